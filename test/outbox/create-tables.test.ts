import { DynamoDBClient, type TableDescription } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import { createTableInput, tableDifference } from '../../src/outbox/table-input.ts'
import { LEDGER_TABLE, OUTBOX_TABLE } from '../../src/tables.ts'
import { testClock } from '../support/clock.ts'
import { awsError } from '../support/faults.ts'

/** A table as DynamoDB describes it. */
const described = (change: Partial<TableDescription> = {}): TableDescription => ({
  ...(createTableInput('outbox', OUTBOX_TABLE) as TableDescription),
  TableStatus: 'ACTIVE',
  ...change,
})
const EXPIRING = { TimeToLiveStatus: 'ENABLED', AttributeName: 'expires' }

/** Creates the outbox table on an AWS that answers as told, command by command; the last answer stays. */
async function create(script: Readonly<Record<string, readonly unknown[]>>) {
  const sent: string[] = []
  const left = new Map(Object.entries(script).map(([name, answers]) => [name, [...answers]]))
  const send = async (command: object) => {
    const name = command.constructor.name.replace('Command', '')
    sent.push(name)
    const answers = left.get(name) ?? []
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    if (answer instanceof Error) throw answer
    return answer ?? {}
  }
  const client = Object.assign(new DynamoDBClient({ region: 'eu-west-1' }), { send })
  const clock = testClock()
  const error: unknown = await createTables({ client, outboxTable: 'outbox', clock }).catch((thrown: unknown) => thrown)
  return { sent, sleeps: clock.sleeps, error }
}
const table = (Table: TableDescription) => ({ Table })
const expiry = (TimeToLiveDescription: object) => ({ TimeToLiveDescription })

describe('a table', () => {
  it('that exists and has all it needs is left as it is, also while it is being updated', async () => {
    for (const TableStatus of ['ACTIVE', 'UPDATING'] as const) {
      const { sent, error } = await create({
        CreateTable: [awsError('ResourceInUseException')],
        DescribeTable: [table(described({ TableStatus }))],
        DescribeTimeToLive: [expiry(EXPIRING)],
      })
      expect(error).toBeUndefined()
      expect(sent).toEqual(['CreateTable', 'DescribeTable', 'DescribeTimeToLive'])
    }
  })

  it('that cannot be created says so at once', async () => {
    const denied = awsError('AccessDeniedException')
    const { sent, error } = await create({ CreateTable: [denied] })
    expect([sent, error]).toEqual([['CreateTable'], denied])
  })

  it('that is not ready within two minutes is unavailable, with the last error as the cause', async () => {
    const { sleeps, error } = await create({ DescribeTable: [table(described({ TableStatus: 'CREATING' }))] })
    expect(error).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'A table was not ready within two minutes. Look at its status, then call again.',
    })
    expect(sleeps).toHaveLength(119)
    expect(sleeps.slice(0, 6)).toEqual([100, 200, 400, 800, 1000, 1000])
    expect((error as Error).cause).toBeUndefined()

    const missing = awsError('ResourceNotFoundException')
    const creating = table(described({ TableStatus: 'CREATING' }))
    expect((await create({ DescribeTable: [missing, creating] })).error).toMatchObject({ cause: missing })
  })

  it.each(['ResourceNotFoundException', 'ResourceInUseException', 'ValidationException', 'LimitExceededException'])(
    'is asked for again after %s, eight times at most in a row of errors',
    async (name) => {
      const passing = await create({
        DescribeTable: [table(described())],
        DescribeTimeToLive: [awsError(name), awsError(name), expiry(EXPIRING)],
      })
      expect(passing).toMatchObject({ error: undefined, sleeps: [100, 200] })
      const lasting = await create({ DescribeTable: [awsError(name)] })
      expect(lasting.error).toMatchObject({ name })
      expect(lasting.sent.filter((sent) => sent === 'DescribeTable')).toHaveLength(9)
    },
  )

  it('is not asked for again after any other error', async () => {
    const { sent, error } = await create({ DescribeTable: [awsError('AccessDeniedException')] })
    expect(error).toMatchObject({ name: 'AccessDeniedException' })
    expect(sent).toEqual(['CreateTable', 'DescribeTable'])
  })

  it('gets its expiry where it has none, and is refused where it has another', async () => {
    const base = { DescribeTable: [table(described())] }
    for (const off of [undefined, {}, { TimeToLiveStatus: 'DISABLED' }]) {
      const { sent, error } = await create({ ...base, DescribeTimeToLive: [off === undefined ? {} : expiry(off)] })
      expect([sent.at(-1), error]).toEqual(['UpdateTimeToLive', undefined])
    }
    for (const TimeToLiveStatus of ['ENABLED', 'ENABLING']) {
      const on = await create({ ...base, DescribeTimeToLive: [expiry({ ...EXPIRING, TimeToLiveStatus })] })
      expect([on.sent.at(-1), on.error]).toEqual(['DescribeTimeToLive', undefined])
      const other = await create({
        ...base,
        DescribeTimeToLive: [expiry({ TimeToLiveStatus, AttributeName: 'ttl' })],
      })
      expect(other.error).toMatchObject({
        code: 'INVALID_SETTING',
        message: 'table expires its items by another attribute than expires; it was not changed.',
      })
    }
  })

  it('of another shape is refused with what it lacks', async () => {
    const { error } = await create({ DescribeTable: [table(described({ GlobalSecondaryIndexes: [] }))] })
    expect(error).toMatchObject({
      code: 'INVALID_SETTING',
      message: 'table exists without the index pending; it was not changed. Give it that, or give another name.',
    })
  })
})

describe('what a table lacks', () => {
  const lacks = (change: Partial<TableDescription>) => tableDifference(described(change), OUTBOX_TABLE)
  const keys = (...names: readonly string[]) =>
    names.map((AttributeName) => ({ AttributeName, KeyType: 'HASH' as const }))

  it('is nothing where it has keys, index and a stream of new images, old ones or none beside them', () => {
    expect(lacks({})).toBeUndefined()
    const both = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } as const
    expect(lacks({ StreamSpecification: both })).toBeUndefined()
    const ledger = createTableInput('ledger', LEDGER_TABLE) as TableDescription
    expect(tableDifference(ledger, LEDGER_TABLE)).toBeUndefined()
  })

  it.each<[Partial<TableDescription>, string]>([
    [{ KeySchema: [] }, 'the keys pk and sk'],
    [{ KeySchema: keys('pk') }, 'the keys pk and sk'],
    [{ KeySchema: keys('pk', 'other') }, 'the keys pk and sk'],
    [{ KeySchema: keys('sk', 'pk') }, 'the keys pk and sk'],
    [{ KeySchema: keys('pk', 'sk', 'more') }, 'the keys pk and sk'],
    [{ GlobalSecondaryIndexes: [{ IndexName: 'other', KeySchema: keys('shard', 'due') }] }, 'the index pending'],
    [{ GlobalSecondaryIndexes: [{ IndexName: 'pending', KeySchema: keys('shard', 'id') }] }, 'the index pending'],
    [{ StreamSpecification: { StreamEnabled: false, StreamViewType: 'NEW_IMAGE' } }, 'a stream of NEW_IMAGE'],
    [{ StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } }, 'a stream of NEW_IMAGE'],
  ])('is said: %j', (change, difference) => {
    expect(lacks(change)).toBe(difference)
  })
})
