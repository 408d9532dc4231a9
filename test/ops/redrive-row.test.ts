import { type AttributeValue, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { eventId, sha256 } from '../../src/event/identity.ts'
import { redriveRow } from '../../src/ops/redrive-row.ts'
import { createOutbox, type Outbox } from '../../src/outbox/create-outbox.ts'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import { deadShard, GRACE_MS, pendingShard, type RowKey, rowKey } from '../../src/outbox/row.ts'
import { createSweeper } from '../../src/relay/sweeper.ts'
import { proves } from '../cases.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { createFakeQueue, type FakeQueue } from '../support/fake-queue.ts'
import { addFaults, networkError } from '../support/faults.ts'
import { sk } from '../support/outbox-rows.ts'

const silent = { info: () => {}, warn: () => {}, error: () => {} }
/** Writes rows that have been the sweeper's for a moment. */
const before = { ...systemClock, now: () => systemClock.now() - GRACE_MS - 1000 }

let dynamo: TestDynamo
beforeAll(async () => {
  dynamo = await startDynamo()
})
afterAll(() => dynamo.stop())

type World = {
  readonly table: { readonly client: TestDynamo['client']; readonly tableName: string }
  readonly outbox: Outbox
  readonly queues: readonly [FakeQueue, FakeQueue]
  readonly sweep: () => Promise<unknown>
  readonly row: (key: RowKey) => Promise<Record<string, AttributeValue> | undefined>
}

/** An outbox whose rows go to two queues. */
async function openWorld(): Promise<World> {
  const tableName = dynamo.tableName('outbox')
  const { client } = dynamo
  await createTables({ client, outboxTable: tableName })
  const queues = [createFakeQueue('one', systemClock), createFakeQueue('two', systemClock)] as const
  const sweeper = createSweeper({ client, tableName, routes: [{ to: queues }], logger: silent })
  return {
    table: { client, tableName },
    outbox: createOutbox({ client, tableName, clock: before }),
    queues,
    sweep: () => sweeper({}, { getRemainingTimeInMillis: () => 60_000 }),
    row: async ({ pk, sk: sort }) => {
      const Key = { pk: { S: pk }, sk: { S: sort } }
      return (await client.send(new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }))).Item
    },
  }
}

const order = (key: string) => ({ source: 'shop', type: 'order.placed', key, data: { key } })
const step = (sequence: number) => ({ source: 'shop', type: 'step', group: 'g', sequence, data: {} })
const identity = { source: 'shop', key: 'order/1' }
const ids = (queue: FakeQueue) => queue.delivered.map(({ deduplicationId }) => deduplicationId)

describe('redriveRow', () => {
  it(
    'makes a dead row pending again, and the sweeper sends it under a new deduplication id to whom it is missing',
    proves('redrive-within-dedup', 'refused-for-content', 'no-ttl-on-pending', 'ids-on-every-path'),
    async () => {
      const { table, outbox, queues, sweep, row } = await openWorld()
      const [one, two] = queues
      const id = eventId(identity)
      two.refuses = () => 'not today'
      await outbox.transact({ events: [order('order/1')] })
      await sweep()
      await sweep()
      const dead = await row(rowKey(identity))
      expect(dead).toMatchObject({ shard: { S: deadShard(rowKey(identity)) }, failure: { S: 'not today' } })
      expect(ids(one)).toEqual([id])

      two.refuses = () => undefined
      const began = systemClock.now()
      expect(await redriveRow(table, id)).toEqual({ status: 'redriven' })
      const pending = await row(rowKey(identity))
      expect(pending).toMatchObject({ shard: { S: pendingShard(rowKey(identity)) }, redrives: { N: '1' } })
      expect(pending?.['expires']).toBeUndefined()
      expect(pending?.['accepted']).toEqual({ SS: ['one'] })
      expect(Number(pending?.['due']?.N)).toBeGreaterThanOrEqual(began)

      await sweep()
      expect(ids(one)).toEqual([id])
      expect(ids(two)).toEqual([`${id}-r1`])
      expect(two.delivered[0]?.groupId).toBe(id)
      expect(two.delivered[0]?.body).toBe(dead?.['body']?.S)
      expect((await row(rowKey(identity)))?.['shard']).toBeUndefined()
    },
  )

  it('redrives a row of a group under the same group, and nothing else of it is sent again', async () => {
    const { table, outbox, queues, sweep, row } = await openWorld()
    const [one, two] = queues
    const second = rowKey({ source: 'shop', group: 'g', sequence: 2 })
    const id = eventId({ source: 'shop', group: 'g', sequence: 2 })
    one.refuses = ({ deduplicationId }) => (deduplicationId.startsWith(id) ? 'too odd' : undefined)
    await outbox.transact({ events: [step(1), step(2), step(3)] })
    await sweep()
    expect((await row(second))?.['failure']).toEqual({ S: 'too odd' })
    expect((await row({ pk: second.pk, sk: sk(3) }))?.['shard']).toBeUndefined()
    one.refuses = () => undefined
    expect(await redriveRow(table, id)).toEqual({ status: 'redriven' })
    await sweep()
    expect(one.delivered.map(({ groupId }) => groupId)).toEqual(['shop/g', 'shop/g', 'shop/g'])
    expect(ids(one).at(-1)).toBe(`${id}-r1`)
    expect(two.delivered).toHaveLength(3)
    expect(ids(two)).not.toContain(`${id}-r1`)
    expect((await row(second))?.['shard']).toBeUndefined()
  })

  it('counts redrives, and a row whose content is still refused is dead again', async () => {
    const { table, outbox, queues, sweep, row } = await openWorld()
    for (const queue of queues) queue.refuses = () => 'too odd'
    await outbox.transact({ events: [order('order/1')] })
    for (const times of [0, 1, 2]) {
      if (times > 0) expect(await redriveRow(table, eventId(identity))).toEqual({ status: 'redriven' })
      await sweep()
      const item = await row(rowKey(identity))
      expect(item?.['shard']?.S).toBe(deadShard(rowKey(identity)))
      expect(item?.['redrives']?.N).toBe(times === 0 ? undefined : String(times))
    }
  })

  it('answers not-dead for what is unknown, pending or relayed, and changes nothing', async () => {
    const { table, outbox, sweep, row } = await openWorld()
    const id = eventId(identity)
    expect(await redriveRow(table, id)).toEqual({ status: 'not-dead' })
    await outbox.transact({ events: [order('order/1')] })
    const pending = await row(rowKey(identity))
    expect(await redriveRow(table, id)).toEqual({ status: 'not-dead' })
    expect(await row(rowKey(identity))).toEqual(pending)
    await sweep()
    const relayed = await row(rowKey(identity))
    expect(relayed?.['expires']).toBeDefined()
    expect(await redriveRow(table, id)).toEqual({ status: 'not-dead' })
    expect(await row(rowKey(identity))).toEqual(relayed)
  })

  it('moves a row once for two operators at once', async () => {
    const { table, outbox, queues, sweep, row } = await openWorld()
    for (const queue of queues) queue.refuses = () => 'too odd'
    await outbox.transact({ events: [order('order/1')] })
    await sweep()
    const client = dynamo.newClient()
    const faults = addFaults(client)
    // The second operator moves the row between the first one's look and its write.
    faults.next('UpdateItemCommand', { meanwhile: () => redriveRow(table, eventId(identity)) })
    expect(await redriveRow({ ...table, client }, eventId(identity))).toEqual({ status: 'not-dead' })
    expect((await row(rowKey(identity)))?.['redrives']).toEqual({ N: '1' })
  })

  it('throws what the SDK throws, and after a lost answer the row is pending all the same', async () => {
    const { table, outbox, queues, sweep, row } = await openWorld()
    for (const queue of queues) queue.refuses = () => 'too odd'
    await outbox.transact({ events: [order('order/1')] })
    await sweep()
    const client = dynamo.newClient()
    const faults = addFaults(client)
    faults.next('QueryCommand', { before: networkError() })
    faults.next('UpdateItemCommand', { after: networkError() })
    const attempt = () => redriveRow({ ...table, client }, eventId(identity))
    await expect(attempt()).rejects.toThrow('socket hang up')
    await expect(attempt()).rejects.toThrow('socket hang up')
    expect(await attempt()).toEqual({ status: 'not-dead' })
    expect((await row(rowKey(identity)))?.['redrives']).toEqual({ N: '1' })
    await expect(redriveRow({ ...table, tableName: 'nowhere' }, 'x')).rejects.toMatchObject({
      name: 'ResourceNotFoundException',
    })
  })

  it('finds a foreign row by the id it is sent under', async () => {
    const { table, queues, sweep } = await openWorld()
    const region = await table.client.config.region()
    const put = (pk: string, more: Record<string, AttributeValue>) =>
      table.client.send(
        new PutItemCommand({
          TableName: table.tableName,
          Item: {
            pk: { S: pk },
            sk: { S: 'x' },
            region: { S: region },
            body: { S: pk },
            shard: { S: pendingShard({ pk, sk: 'x' }) },
            due: { N: '1' },
            ...more,
          },
        }),
      )
    await put('bare', {})
    await put('named', { id: { S: 'my-id' } })
    await put('odd', { id: { S: 'my id' } })
    // In the form of our own keys, but without `v`: relayed under its own id all the same.
    await put('K#shop/like-ours', { sk: { S: '-' }, created: { N: '1' }, type: { S: 't' } })
    await put('K#shop/named', { sk: { S: '-' }, id: { S: 'your-id' }, created: { N: '1' }, type: { S: 't' } })
    const [one] = queues
    for (const queue of queues) queue.refuses = () => 'too odd'
    await sweep()
    for (const queue of queues) queue.refuses = () => undefined
    const sentUnder = [sha256('bare|x'), 'my-id', sha256('my id'), sha256('K#shop/like-ours|-'), 'your-id']
    for (const id of sentUnder) expect(await redriveRow(table, id)).toEqual({ status: 'redriven' })
    await sweep()
    expect(ids(one).toSorted()).toEqual(sentUnder.map((id) => `${id}-r1`).toSorted())
  })

  it('refuses unknown options and an empty id', async () => {
    const table = { client: dynamo.client, tableName: 'any' }
    await expect(redriveRow({ ...table, table: 'x' } as never, 'x')).rejects.toMatchObject({ code: 'INVALID_SETTING' })
    await expect(redriveRow(table, '')).rejects.toMatchObject({ code: 'INVALID_SETTING' })
  })
})
