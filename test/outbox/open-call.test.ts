import { DynamoDBClient, type GetItemCommand, type QueryCommandInput } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import type { CommitRequest } from '../../src/outbox/commit.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { createSession } from '../../src/outbox/dynamo-session.ts'
import { type CommitDeps, openCall } from '../../src/outbox/open-call.ts'
import type { Session } from '../../src/outbox/session.ts'
import { testClock } from '../support/clock.ts'

const event = { source: 'shop', type: 't', key: 'k', data: 1 }
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const session = { kind: 'client', region: async () => 'eu-west-1' } as unknown as Session
const outbox = { tableName: 'outbox' }

const open = (request: object, deps: Partial<CommitDeps> = { outbox }) =>
  openCall({ session, clock: testClock(), ...deps }, {
    writes: [],
    events: [event],
    onExisting: 'cancel',
    ...request,
  } as CommitRequest)

describe('a call', () => {
  it.each([
    [{ writes: {} }, 'writes must be an array of actions.'],
    [{ events: event }, 'events must be an array of events.'],
    [{ onExisting: 'skip' }, 'onExisting must be "cancel" or "commit".'],
    [{ send: {} }, 'send must be a function.'],
    [{ token: '' }, 'token must be text of 1–36 characters.'],
    [{ token: 'x'.repeat(37) }, 'token must be text of 1–36 characters.'],
    [{ token: 7 }, 'token must be text of 1–36 characters.'],
    [{ retries: 1 }, 'transaction: "retries" is not an option; allowed are writes, guards, events,'],
  ])('is refused for %j', async (request, message) => {
    await expect(open(request)).rejects.toMatchObject({
      code: 'INVALID_SETTING',
      message: expect.stringContaining(message),
    })
  })

  it('takes a token of 36 characters, line breaks too, and each way with duplicates', async () => {
    for (const token of ['x'.repeat(36), '\n']) expect((await open({ token }))?.request.token).toBe(token)
    expect((await open({ onExisting: 'commit', deadline: 1, send: async () => {} }))?.request.onExisting).toBe('commit')
  })

  it('has no events without an outbox', async () => {
    await expect(open({}, {})).rejects.toMatchObject({
      code: 'INVALID_USE',
      message: 'Events need an outbox. Create one for this consumer with createOutbox.',
    })
    expect(await open({ events: [] }, {})).toMatchObject({ tableName: '', stamp: { region: '' } })
  })

  it('is stamped once, with the Region given or the client’s, and an id of its own', async () => {
    const clock = testClock()
    const first = await open({}, { outbox, clock })
    expect(first?.stamp).toEqual({
      created: clock.now(),
      region: 'eu-west-1',
      instance: expect.stringMatching(/^[0-9a-f]{16}$/),
    })
    expect((await open({}, { outbox, clock }))?.stamp.instance).not.toBe(first?.stamp.instance)
    const elsewhere = { ...outbox, region: 'us-east-1', delivery: 'pull' as const }
    expect((await open({}, { outbox: elsewhere }))?.stamp).toMatchObject({ region: 'us-east-1', delivery: 'pull' })
  })

  it('is refused where no Region is known', async () => {
    for (const region of [async () => '', async () => undefined, () => Promise.reject(new Error('no Region'))]) {
      await expect(open({}, { outbox, session: { ...session, region } as Session })).rejects.toMatchObject({
        code: 'INVALID_SETTING',
        message: 'region is missing: set it on the client, or give it to createOutbox.',
      })
    }
  })

  it('carries the trace around it, and none where tracing fails', async () => {
    const traced = async (traceparent: () => string | undefined) =>
      (await open({}, { outbox: { ...outbox, traceparent } }))?.events.drafts[0]?.event.headers
    expect(await traced(() => TRACE)).toEqual({ traceparent: TRACE })
    const broken = () => {
      throw new Error('no tracer')
    }
    expect(await traced(broken)).toEqual({})
  })

  it('with two events of one key that differ is none', async () => {
    expect(await open({ events: [event, { ...event, data: 2 }] })).toBeUndefined()
  })
})

describe('createOutbox', () => {
  const client = new DynamoDBClient({ region: 'eu-west-1' })
  it.each([
    [{ tableName: '' }, 'tableName must be the name of the outbox table.'],
    [{ tableName: 7 }, 'tableName must be the name of the outbox table.'],
    [{ region: '' }, "region must be the name of a Region, or left out for the client's."],
    [{ region: 7 }, "region must be the name of a Region, or left out for the client's."],
    [{ delivery: 'push' }, 'delivery must be "relay" or "pull".'],
    [{ documentClient: client }, 'client, documentClient must be given, one of them and not both.'],
    [{ client: undefined }, 'client, documentClient must be given, one of them and not both.'],
    [{ table: 'x' }, 'createOutbox: "table" is not an option; allowed are client, documentClient, tableName, region,'],
  ])('refuses %o', (options, message) => {
    expect(() => createOutbox({ client, tableName: 'outbox', ...options } as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_SETTING', message: expect.stringContaining(message) }),
    )
  })

  it('pulls only where it writes for pull workers', () => {
    expect(() => createOutbox({ client, tableName: 't' }).pull({ source: 's', workerId: 'w' })).toThrow(
      'delivery must be "pull" in createOutbox for a pull worker.',
    )
  })

  it('refuses options of a call that it does not know, and work that is no function', async () => {
    const one = createOutbox({ client, tableName: 't' })
    await expect(one.transact({ event } as never)).rejects.toThrow(
      'transact: "event" is not an option; allowed are writes,',
    )
    await expect(one.collect(() => {}, { writes: [] } as never)).rejects.toThrow(
      'collect: "writes" is not an option; allowed are onExisting, token, send',
    )
    await expect(one.collect(1 as never)).rejects.toThrow('collect must be given a function.')
  })
})

describe('the highest number of a group', () => {
  const number = (n: number) => ({ sk: { S: String(n).padStart(16, '0') } })
  const foreign = (text: string) => ({ sk: { S: text } })

  /** Pages as they are asked for, and what was asked. */
  async function highest(...pages: readonly (readonly object[] | undefined)[]) {
    const inputs: QueryCommandInput[] = []
    const left = [...pages]
    const send = async ({ input }: GetItemCommand) => {
      inputs.push(input as unknown as QueryCommandInput)
      return { Items: left.shift() }
    }
    const client = Object.assign(new DynamoDBClient({ region: 'eu-west-1' }), { send })
    const found = createSession({ client }).highestRow('outbox', 'G#shop/g')
    return { found: await found.catch((error: unknown) => error), inputs }
  }

  it('is the first row’s, at the price of one', async () => {
    const { found, inputs } = await highest([{ ...number(42), created: { N: '1780000000000' } }])
    expect(found).toEqual({ sequence: 42, created: 1_780_000_000_000 })
    expect(inputs).toEqual([
      {
        TableName: 'outbox',
        KeyConditionExpression: 'pk = :pk AND sk BETWEEN :first AND :last',
        ExpressionAttributeValues: {
          ':pk': { S: 'G#shop/g' },
          ':first': { S: '0000000000000000' },
          ':last': { S: '9999999999999999' },
        },
        ProjectionExpression: 'sk, created',
        ScanIndexForward: false,
        Limit: 1,
        ConsistentRead: true,
      },
    ])
  })

  it('is none in an empty group', async () => {
    expect((await highest([])).found).toBeUndefined()
    expect((await highest(undefined)).found).toBeUndefined()
  })

  it('is found behind rows of another form, a hundred at a time', async () => {
    const { found, inputs } = await highest([foreign('9x')], [foreign('8x'), foreign('7x')], [{}, number(5)])
    expect(found).toEqual({ sequence: 5, created: 0 })
    expect(inputs.map(({ Limit, ExclusiveStartKey }) => [Limit, ExclusiveStartKey])).toEqual([
      [1, undefined],
      [100, { pk: { S: 'G#shop/g' }, sk: { S: '9x' } }],
      [100, { pk: { S: 'G#shop/g' }, sk: { S: '7x' } }],
    ])
    expect((await highest([foreign('9x')], [])).found).toBeUndefined()
  })

  it('is given up after twenty pages of them', async () => {
    const { found, inputs } = await highest(...Array(30).fill([foreign('9x')]))
    expect(inputs).toHaveLength(20)
    expect(found).toMatchObject({
      code: 'UNAVAILABLE',
      message: "No number was found: 2000 rows of another form lie under the group's key. Move them away.",
    })
  })
})
