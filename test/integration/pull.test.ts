import { type AttributeValue, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { eventId } from '../../src/event/identity.ts'
import { listDeadLetters } from '../../src/ops/dead-letters.ts'
import { listRows } from '../../src/ops/list-rows.ts'
import { redrive } from '../../src/ops/redrive.ts'
import { redriveRow } from '../../src/ops/redrive-row.ts'
import { showEvent } from '../../src/ops/show-event.ts'
import { readStatus } from '../../src/ops/status.ts'
import { createOutbox, type Outbox } from '../../src/outbox/create-outbox.ts'
import type { Puller } from '../../src/outbox/create-puller.ts'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import type { PulledEvent } from '../../src/outbox/pull-claim.ts'
import { deadShard, GRACE_MS, pullShard, rowKey } from '../../src/outbox/row.ts'
import { createRelay } from '../../src/relay/relay.ts'
import { createSweeper } from '../../src/relay/sweeper.ts'
import type { StreamImage } from '../../src/testing/lambda-events.ts'
import { streamRecord } from '../../src/testing/records.ts'
import { proves } from '../cases.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { createFakeQueue } from '../support/fake-queue.ts'

const logger = { info: () => {}, warn: () => {}, error: () => {} }
const KEY = rowKey({ source: 'shop', key: 'a' })
const ID = eventId({ source: 'shop', key: 'a' })
const event = { source: 'shop', type: 'order.placed', key: 'a', data: { total: 42 } }
const step = (sequence: number) => ({ source: 'shop', type: 'step', group: 'g', sequence, data: {} })

let dynamo: TestDynamo
beforeAll(async () => {
  dynamo = await startDynamo()
})
afterAll(() => dynamo.stop())

let tableName: string
let outbox: Outbox
let puller: Puller

beforeEach(async () => {
  const { client } = dynamo
  tableName = dynamo.tableName('outbox')
  await createTables({ client, outboxTable: tableName })
  outbox = createOutbox({ client, tableName, delivery: 'pull' })
  puller = outbox.pull({ source: 'shop', workerId: 'w-1', logger, maxClaims: 1 })
})

async function read(key = KEY): Promise<Record<string, AttributeValue>> {
  const Key = { pk: { S: key.pk }, sk: { S: key.sk } }
  const { Item } = await dynamo.client.send(new GetItemCommand({ TableName: tableName, Key, ConsistentRead: true }))
  return Item ?? {}
}

async function claimOne(from = puller): Promise<PulledEvent> {
  const [claimed] = await from.claim()
  if (claimed === undefined) throw new Error('nothing claimed')
  return claimed
}

describe('an outbox for pull workers', () => {
  it('writes rows that are due at once, which relay and sweeper pass over', proves('not-an-insert'), async () => {
    const clock = { ...systemClock, now: () => systemClock.now() - GRACE_MS - 1000 }
    await createOutbox({ client: dynamo.client, tableName, clock, delivery: 'pull' }).transact({
      events: [event, step(1), step(2)],
    })
    const row = await read()
    expect(row['shard']).toEqual({ S: pullShard(KEY) })
    expect(row['due']).toEqual(row['created'])
    const queue = createFakeQueue('one', systemClock)
    const options = { client: dynamo.client, tableName, routes: [{ to: queue }], logger }
    const context = { getRemainingTimeInMillis: () => 60_000 }
    const records = await Promise.all(
      [KEY, rowKey(step(1))].map(async (key) => streamRecord({ newImage: (await read(key)) as StreamImage })),
    )
    expect(await createRelay(options)({ Records: records }, context)).toEqual({ batchItemFailures: [] })
    await createSweeper(options)({}, context)
    expect(queue.delivered).toEqual([])
    expect(await read()).toEqual(row)
    expect(await puller.claim({ limit: 10 })).toHaveLength(2)
  })

  it('is pulled through either client', async () => {
    const documentClient = DynamoDBDocumentClient.from(dynamo.newClient())
    const native = createOutbox({ documentClient, tableName, delivery: 'pull' })
    await native.transact({ events: [event] })
    const claimed = await claimOne(native.pull({ source: 'shop', workerId: 'w-2', logger }))
    expect(claimed.event).toMatchObject({ id: ID, type: 'order.placed', data: { total: 42 } })
    expect(await claimOne(native.pull({ source: 'shop', workerId: 'w-3', logger })).catch(() => 'nothing')).toBe(
      'nothing',
    )
    expect(await puller.acknowledge(claimed)).toBe(true)
    expect(await read()).toMatchObject({ token: { S: expect.stringMatching(/^w-2 /) }, claims: { N: '1' } })
  })

  it('claims and answers nothing inside collect', async () => {
    await outbox.transact({ events: [event] })
    const refused: unknown[] = []
    await outbox.collect(async (tx) => {
      await Promise.resolve()
      refused.push(await puller.claim().catch((error: { code: string }) => error.code))
      tx.enqueue({ ...event, key: 'b' })
    })
    expect(refused).toEqual(['INVALID_USE'])
    const claimed = await claimOne()
    await expect(outbox.collect(() => puller.acknowledge(claimed))).rejects.toMatchObject({ code: 'INVALID_USE' })
    expect(await puller.acknowledge(claimed)).toBe(true)
  })

  it('is asked for, and asks for what it needs', () => {
    const { client } = dynamo
    const relayed = createOutbox({ client, tableName })
    expect(() => relayed.pull({ source: 'shop', workerId: 'w' })).toThrow('"pull" in createOutbox')
    expect(() => createOutbox({ client, tableName, delivery: 'push' as never })).toThrow('"relay" or "pull"')
    expect(() => outbox.pull({ source: 'a/b', workerId: 'w' })).toThrow('source')
    expect(() => outbox.pull({ source: 'shop', workerId: 'two words' })).toThrow('workerId')
    expect(() => outbox.pull({ source: 'shop', workerId: 'w', leaseSeconds: 0 })).toThrow('leaseSeconds')
    expect(() => outbox.pull({ source: 'shop', workerId: 'w', maxClaims: 101 })).toThrow('maxClaims')
  })
})

describe('a dead row of pull workers', () => {
  const sqs = new SQSClient({ region: 'eu-central-1' })
  const system = () => ({ dynamo: dynamo.client, sqs, outboxTable: tableName, consumers: [] })
  const die = async () => {
    await outbox.transact({ events: [event] })
    expect(await puller.fail(await claimOne(), 'no such customer')).toEqual({ status: 'dead' })
    expect(await read()).toMatchObject({ shard: { S: deadShard(KEY) }, failure: { S: 'no such customer' } })
    expect(await puller.claim()).toEqual([])
  }
  const isBack = async () => {
    expect(await read()).toMatchObject({ shard: { S: pullShard(KEY) }, claims: { N: '0' }, redrives: { N: '1' } })
    const again = await claimOne()
    expect(again.claims).toBe(1)
    expect(await puller.acknowledge(again)).toBe(true)
  }

  it('goes back to them when it is redriven by its id', proves('operate-dead-letters'), async () => {
    await die()
    expect(await redriveRow({ client: dynamo.client, tableName }, ID)).toEqual({ status: 'redriven' })
    await isBack()
  })

  it('is listed under the handler that gave up, or as a pull worker’s', async () => {
    await outbox.transact({ events: [event, { ...event, key: 'b' }] })
    const note = { life: 5, handlers: ['mail/send'] }
    await puller.deadLetter(await claimOne(), 'no such customer', note)
    await puller.deadLetter(await claimOne(), 'no such customer')
    const { items } = await listDeadLetters(system())
    expect(items.map(({ handler }) => handler).sort()).toEqual(['mail/send', 'pull'])
    expect(await redrive(system(), { select: { handler: 'mail/send' }, by: 'me' })).toMatchObject({ done: 1 })
    expect((await claimOne()).note).toEqual(note)
  })

  it('and what waits are found by their source', async () => {
    await outbox.transact({ events: [event, { ...event, key: 'b' }] })
    const sources = { ...system(), pullSources: ['shop', 'other'] }
    const { pull, pending } = await readStatus(sources)
    expect(pull).toMatchObject([
      { source: 'shop', count: 2, oldestMs: expect.any(Number) },
      { source: 'other', count: 0 },
    ])
    expect(pending.count).toBe(0)
    const { rows } = await listRows(sources, { state: 'pull' })
    expect(rows.map(({ key }) => key).sort()).toEqual(['a', 'b'])
    expect(await showEvent(sources, { id: ID })).toMatchObject({ row: { state: 'pull' } })
    await expect(listRows(system(), { state: 'pull' })).rejects.toMatchObject({ code: 'INVALID_USE' })
  })

  it('goes back to them when it is redriven with others', async () => {
    await die()
    expect(await redrive(system(), { select: { ids: [ID] }, by: 'me' })).toMatchObject({ done: 1 })
    await isBack()
  })
})
