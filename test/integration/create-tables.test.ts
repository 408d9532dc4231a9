import {
  CreateTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import { createTableInput } from '../../src/outbox/table-input.ts'
import { LEDGER_TABLE, OUTBOX_TABLE } from '../../src/tables.ts'
import { proves } from '../cases.ts'
import { testClock } from '../support/clock.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { addFaults, awsError } from '../support/faults.ts'

let dynamo: TestDynamo
beforeAll(async () => {
  dynamo = await startDynamo()
})
afterAll(() => dynamo.stop())

async function describeTable(TableName: string) {
  return (await dynamo.client.send(new DescribeTableCommand({ TableName }))).Table
}

async function expiryOf(TableName: string) {
  const { TimeToLiveDescription } = await dynamo.client.send(new DescribeTimeToLiveCommand({ TableName }))
  return TimeToLiveDescription
}

describe('createTables', () => {
  it('creates both as tables.ts defines them', proves('ttl-unit'), async () => {
    const [outboxTable, ledgerTable] = [dynamo.tableName('outbox'), dynamo.tableName('ledger')]
    await createTables({ client: dynamo.client, outboxTable, ledgerTable })
    const outbox = await describeTable(outboxTable)
    expect(outbox).toMatchObject({
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
      GlobalSecondaryIndexes: [
        { IndexName: 'pending', Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['created', 'type'] } },
      ],
    })
    expect((await describeTable(ledgerTable))?.GlobalSecondaryIndexes).toBeUndefined()
    for (const name of [outboxTable, ledgerTable])
      expect(await expiryOf(name)).toMatchObject({ AttributeName: 'expires' })
  })

  it('may run twice, and in two processes at once', async () => {
    const tables = { outboxTable: dynamo.tableName('outbox'), ledgerTable: dynamo.tableName('ledger') }
    const run = () => createTables({ client: dynamo.newClient(), ...tables })
    await Promise.all([run(), run(), run()])
    await run()
    expect(await expiryOf(tables.outboxTable)).toMatchObject({ AttributeName: 'expires' })
  })

  it('waits for a table that another process is creating, 100 ms to 1 s at a time', async () => {
    const clock = testClock()
    const client = dynamo.newClient()
    const missing = { before: awsError('ResourceNotFoundException') }
    addFaults(client).next('DescribeTableCommand', ...Array.from({ length: 6 }, () => missing))
    await createTables({ client, outboxTable: dynamo.tableName('outbox'), clock })
    expect(clock.sleeps).toEqual([100, 200, 400, 800, 1000, 1000])
  })

  it('looks again when another process enables expiry at the same time', async () => {
    const outboxTable = dynamo.tableName('outbox')
    const client = dynamo.newClient()
    const faults = addFaults(client)
    const TimeToLiveSpecification = { Enabled: true, AttributeName: 'expires' }
    const other = () =>
      dynamo.client.send(new UpdateTimeToLiveCommand({ TableName: outboxTable, TimeToLiveSpecification }))
    // What AWS says when it is enabled already, and the engine does not.
    faults.next('UpdateTimeToLiveCommand', { after: awsError('ValidationException') })
    faults.next('DescribeTimeToLiveCommand', 'none', { meanwhile: other })
    await createTables({ client, outboxTable, clock: testClock() })
    expect(faults.inputs('UpdateTimeToLiveCommand')).toHaveLength(1)
  })

  it('reports an error that lasts within seconds', async () => {
    const clock = testClock()
    const client = dynamo.newClient()
    addFaults(client).next(
      'DescribeTableCommand',
      ...Array.from({ length: 99 }, () => ({ before: awsError('ResourceNotFoundException') })),
    )
    await expect(createTables({ client, outboxTable: dynamo.tableName('outbox'), clock })).rejects.toThrow(
      'ResourceNotFoundException',
    )
    expect(clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(6000)
  })

  it.each([
    [
      'without the index',
      {
        GlobalSecondaryIndexes: undefined,
        AttributeDefinitions: createTableInput('x', LEDGER_TABLE).AttributeDefinitions,
      },
      'the index pending',
    ],
    ['without the stream', { StreamSpecification: undefined }, 'a stream of NEW_IMAGE'],
    [
      'with other keys',
      {
        ...createTableInput('x', { ...LEDGER_TABLE, sortKey: { name: 'other', type: 'S' } }),
        GlobalSecondaryIndexes: undefined,
      },
      'the keys pk and sk',
    ],
  ])('refuses an existing table %s, and changes nothing', async (_, change, difference) => {
    const outboxTable = dynamo.tableName('outbox')
    const input = { ...createTableInput(outboxTable, OUTBOX_TABLE), ...change, TableName: outboxTable }
    await dynamo.client.send(new CreateTableCommand(input))
    const call = createTables({ client: dynamo.client, outboxTable })
    await expect(call).rejects.toMatchObject({ code: 'INVALID_SETTING', message: expect.stringContaining(difference) })
    expect((await expiryOf(outboxTable))?.AttributeName).toBeUndefined()
  })

  it('refuses one name for both, and options it does not know', async () => {
    const { client } = dynamo
    const invalid = { code: 'INVALID_SETTING' }
    await expect(createTables({ client, outboxTable: 'abc', ledgerTable: 'abc' })).rejects.toMatchObject(invalid)
    await expect(createTables({ client, tableName: 'abc' } as never)).rejects.toMatchObject(invalid)
  })
})
