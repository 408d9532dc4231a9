import { type AttributeValue, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { eventId } from '../../src/event/identity.ts'
import { type ReplayOptions, replay } from '../../src/ops/replay.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import { GRACE_MS, type RowKey, rowKey } from '../../src/outbox/row.ts'
import { createSweeper } from '../../src/relay/sweeper.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { createFakeQueue, type FakeQueue } from '../support/fake-queue.ts'
import { networkError } from '../support/faults.ts'

const logger = { info: () => {}, warn: () => {}, error: () => {} }
/** Writes rows that have been the sweeper's for a moment. */
const before = { ...systemClock, now: () => systemClock.now() - GRACE_MS - 1000 }
const sqs = new SQSClient({ region: 'eu-central-1' })

let dynamo: TestDynamo
beforeAll(async () => {
  dynamo = await startDynamo()
})
afterAll(() => dynamo.stop())

let tableName: string
let queue: FakeQueue

beforeEach(async () => {
  tableName = dynamo.tableName('outbox')
  await createTables({ client: dynamo.client, outboxTable: tableName })
  queue = createFakeQueue('one', systemClock)
})

const outbox = () => createOutbox({ client: dynamo.client, tableName, clock: before })
const sweep = async () => {
  const sweeper = createSweeper({ client: dynamo.client, tableName, routes: [{ to: queue }], logger })
  await sweeper({}, { getRemainingTimeInMillis: () => 60_000 })
}
const start = (more: Partial<ReplayOptions> = {}, client = dynamo.client) =>
  replay(
    { dynamo: client, sqs, outboxTable: tableName, consumers: [] },
    { source: 'shop', handlers: ['stats/count'], by: 'me', perSecond: 1000, onEstimate: () => true, ...more },
  )
const keyed = (key: string, type = 'order.placed') => ({ source: 'shop', type, key, data: { key } })
const step = (group: string, sequence: number) => ({ source: 'shop', type: 'step', group, sequence, data: {} })

async function read({ pk, sk }: RowKey): Promise<Record<string, AttributeValue>> {
  const Key = { pk: { S: pk }, sk: { S: sk } }
  const { Item } = await dynamo.client.send(new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }))
  return Item ?? {}
}

describe('a replay', () => {
  it('sends relayed events again, as a later life of the handlers named, under new deduplication ids', async () => {
    await outbox().transact({ events: [keyed('a')] })
    await sweep()
    const id = eventId(keyed('a'))
    // As if another destination had been down at first.
    await dynamo.client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: { pk: { S: rowKey(keyed('a')).pk }, sk: { S: '-' } },
        UpdateExpression: 'ADD accepted :one',
        ExpressionAttributeValues: { ':one': { SS: ['one'] } },
      }),
    )
    const { replayed, life, whole } = await start()
    expect({ replayed, whole }).toEqual({ replayed: 1, whole: true })
    const row = await read(rowKey(keyed('a')))
    expect(row).toMatchObject({ redrives: { N: '1' }, history: { L: [{ M: { action: { S: 'replay' } } }] } })
    expect(row).not.toHaveProperty('expires')
    expect(row).not.toHaveProperty('accepted')
    await sweep()
    expect(queue.delivered.map(({ deduplicationId, note }) => [deduplicationId, note])).toEqual([
      [id, undefined],
      [`${id}-r1`, JSON.stringify({ life, handlers: ['stats/count'] })],
    ])
    expect(await read(rowKey(keyed('a')))).toHaveProperty('expires')
  })

  it('takes the events of its source, type and time, and leaves what is pending, dead or forgotten', async () => {
    await outbox().transact({ events: [keyed('a'), keyed('b', 'other'), { ...keyed('c'), source: 'else' }] })
    await sweep()
    await outbox().transact({ events: [keyed('pending')] })
    expect(await start({ type: 'order.placed', dryRun: true })).toMatchObject({ replayed: 1, left: 1 })
    expect(await start({ from: systemClock.now(), dryRun: true })).toMatchObject({ replayed: 0 })
    expect(await start({ to: 1, dryRun: true })).toMatchObject({ replayed: 0 })
    expect(await start({ type: 'order.placed' })).toMatchObject({ replayed: 1 })
    expect(await read(rowKey(keyed('b', 'other')))).not.toHaveProperty('shard')
  })

  it('keeps the order of each group', async () => {
    const numbers = Array.from({ length: 12 }, (_, n) => n + 1)
    await outbox().transact({ events: numbers.flatMap((n) => ['a', 'b', 'c'].map((group) => step(group, n))) })
    await sweep()
    const sentBefore = queue.delivered.length
    const { replayed } = await start()
    expect(replayed).toBe(36)
    await sweep()
    for (const group of ['a', 'b', 'c']) {
      const sent = queue.delivered.slice(sentBefore).filter(({ groupId }) => groupId === `shop/${group}`)
      expect(sent.map(({ body }) => Number(JSON.parse(body).sequence))).toEqual(numbers)
    }
  })

  it('killed at any request and run again sends each event once more, and no more', { timeout: 60_000 }, async () => {
    const events = Array.from({ length: 10 }, (_, n) => step('g', n + 1))
    await outbox().transact({ events: [...events, ...['a', 'b', 'c'].map((key) => keyed(key))] })
    await sweep()
    const sentBefore = queue.delivered.length
    // Request 1 asks for the table's size, 2 begins, 3 reads; then one for each row, the progress and the end.
    for (const [n, requests] of [1, 2, 3, 4, 5, 4, 6, 5, 4, 7].entries()) {
      await expect(start({}, mortal(requests, n % 2 === 0))).rejects.toThrow('socket hang up')
      if (n % 3 === 2) await sweep()
    }
    await start()
    await sweep()
    const again = queue.delivered.slice(sentBefore)
    const times = Map.groupBy(again, ({ deduplicationId }) => deduplicationId.split('-')[0])
    expect(times.size).toBe(13)
    expect([...times.values()].map((sent) => sent.length)).toEqual(Array(13).fill(1))
    const ordered = again.filter(({ groupId }) => groupId === 'shop/g')
    expect(ordered.map(({ body }) => Number(JSON.parse(body).sequence))).toEqual(events.map(({ sequence }) => sequence))
  })

  it('that has ended does nothing when it is run once more, unless it is told to', async () => {
    await outbox().transact({ events: [keyed('a')] })
    await sweep()
    const first = await start()
    await sweep()
    const { ended, ...second } = await start()
    expect(second).toEqual({ life: first.life, replayed: 0, before: 0, left: 0, whole: true })
    expect(ended).toBeGreaterThanOrEqual(first.life ?? 0)
    const third = await start({ again: true })
    expect(third.replayed).toBe(1)
    expect(third.life).toBeGreaterThan(first.life ?? 0)
    await sweep()
    expect(await start({ handlers: ['stats/other'] })).toMatchObject({ replayed: 1 })
  })

  it('of two at once moves each row once', async () => {
    await outbox().transact({ events: Array.from({ length: 20 }, (_, n) => keyed(`k${n}`)) })
    await sweep()
    const both = await Promise.all([start(), start()])
    expect(both[0].life).toBe(both[1].life)
    await sweep()
    expect(queue.delivered).toHaveLength(40)
  })

  it('goes no faster than it is told', async () => {
    await outbox().transact({ events: Array.from({ length: 20 }, (_, n) => keyed(`k${n}`)) })
    await sweep()
    const began = systemClock.now()
    await start({ perSecond: 50 })
    expect(systemClock.now() - began).toBeGreaterThanOrEqual((19 * 1000) / 50)
  })

  it('gives rows of pull workers back to them', async () => {
    const pulled = createOutbox({ client: dynamo.client, tableName, delivery: 'pull', clock: before })
    await pulled.transact({ events: [keyed('a')] })
    const puller = createOutbox({ client: dynamo.client, tableName, delivery: 'pull' }).pull({
      source: 'shop',
      workerId: 'w',
      logger,
    })
    for (const claimed of await puller.claim()) await puller.acknowledge(claimed)
    const { life } = await start()
    const [again] = await puller.claim()
    expect(again).toMatchObject({ claims: 1, note: { life, handlers: ['stats/count'] } })
  })

  it('ends between two rows when it is stopped, and goes on when it is run again', async () => {
    await outbox().transact({ events: Array.from({ length: 10 }, (_, n) => step('g', n + 1)) })
    await sweep()
    const stop = new AbortController()
    const clock = { ...systemClock, sleep: async () => stop.abort() }
    const system = { dynamo: dynamo.client, sqs, outboxTable: tableName, consumers: [], clock }
    const options = { source: 'shop', handlers: ['stats/count'], by: 'me', onEstimate: () => true, signal: stop.signal }
    const { replayed, whole } = await replay(system, options)
    expect(whole).toBe(false)
    expect(replayed).toBeLessThan(10)
    expect(await start()).toMatchObject({ replayed: 10 - replayed, before: replayed, whole: true })
  })

  it('asks before it reads the table, and refuses what it cannot do', async () => {
    const estimates: unknown[] = []
    const declined = { onEstimate: (estimate: unknown) => !estimates.push(estimate) }
    expect(await start(declined)).toEqual({ replayed: 0, before: 0, left: 0, whole: false })
    expect(estimates).toMatchObject([{ readUnits: expect.any(Number) }])
    const { onEstimate: _, ...unasked } = { source: 'shop', handlers: ['a/b'], by: 'me', ...declined }
    const system = { dynamo: dynamo.client, sqs, outboxTable: tableName, consumers: [] }
    await expect(replay(system, unasked)).rejects.toMatchObject({ code: 'INVALID_USE' })
    await expect(start({ handlers: [] })).rejects.toThrow('1–5 handlers')
    await expect(start({ handlers: ['count'] })).rejects.toThrow('"consumer/handler"')
    await expect(start({ from: 1.5 })).rejects.toThrow('from must be')
    await expect(start({ perSecond: 0 })).rejects.toThrow('perSecond')
    await expect(start({ by: '' })).rejects.toThrow('by must')
  })
})

/** A client of a process that is killed at its n-th request, after or before the table has carried it out. */
function mortal(requests: number, applied: boolean): TestDynamo['client'] {
  const client = dynamo.newClient()
  let sent = 0
  client.middlewareStack.add(
    (next) => async (args) => {
      if (++sent > requests) throw networkError()
      if (sent < requests) return next(args)
      if (applied) await next(args)
      throw networkError()
    },
    { step: 'initialize', name: 'mortal' },
  )
  return client
}
