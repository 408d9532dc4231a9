import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { eventId } from '../../src/event/identity.ts'
import { forget } from '../../src/ops/forget.ts'
import { listRows } from '../../src/ops/list-rows.ts'
import { showEvent } from '../../src/ops/show-event.ts'
import { readStatus } from '../../src/ops/status.ts'
import { bodyOf, identityOf } from '../support/consumer-kit.ts'
import { deadAs, type Operated, openOperated } from '../support/operated.ts'
import { orderedRow, relayedRow, unorderedRow } from '../support/outbox-rows.ts'

const opened: Operated[] = []
let world: Operated
beforeEach(async () => {
  world = await openOperated()
  opened.push(world)
})
afterAll(() => Promise.all(opened.map(({ aws }) => aws.stop())))

const agree = () => true
const row4 = { source: 'test', key: 'k4' }
const relayed4 = () => relayedRow(unorderedRow('k4', { source: 'test', body: bodyOf({ n: 4 }) }))

describe('readStatus', () => {
  it('counts pending and dead rows with their ages, the sweeper and the queues', async () => {
    const now = world.aws.clock.now()
    await world.putRow(unorderedRow('a', { created: now - 60_000 }))
    await world.putRow(orderedRow('g', 1, { created: now - 90_000 }))
    await world.putRow(deadAs(unorderedRow('b', { created: now - 5000 }), 'no'))
    await world.putRow(relayedRow(unorderedRow('c')))
    await world.putRow({
      pk: { S: 'H#sweeper' },
      sk: { S: 'eu-central-1' },
      at: { N: String(now - 30_000) },
      pending: { N: '2' },
    })
    await world.die({ n: 1 }, 'shop/mail', 'no')
    const status = await readStatus(world.system)
    expect(status).toMatchObject({
      pending: { count: 2, capped: false },
      dead: { count: 1, capped: false },
      sweepers: [{ region: 'eu-central-1', at: now - 30_000, pending: 2 }],
      consumers: [{ name: 'shop', queue: { visible: 0, inFlight: 0 }, deadLetters: { visible: 1, inFlight: 0 } }],
    })
    expect(status.pending.oldestMs).toBeGreaterThanOrEqual(90_000)
    expect(status.pending.oldestMs).toBeLessThan(120_000)
    expect(status.sweepers[0]?.agoMs).toBeGreaterThanOrEqual(30_000)
  })

  it('says nothing of ages and sweepers where there are none, and names a queue that cannot be read', async () => {
    const [shop] = world.system.consumers
    const gone = `${shop?.deadLetterQueueUrl.replace('.fifo', '')}-gone.fifo`
    const consumers = shop === undefined ? [] : [{ ...shop, deadLetterQueueUrl: gone }]
    const status = await readStatus({ ...world.system, consumers })
    expect(status.pending).toEqual({ count: 0, capped: false })
    expect(status.sweepers).toEqual([])
    expect(status.consumers[0]?.queue.unread).toBeUndefined()
    expect(status.consumers[0]?.deadLetters.unread).toMatch(/NonExistentQueue|QueueDoesNotExist/)
  })
})

describe('listRows', () => {
  it('lists pending and dead rows by the index, the longest due first, without data', async () => {
    const now = world.aws.clock.now()
    await world.putRow(unorderedRow('late', { created: now - 1000 }))
    await world.putRow(orderedRow('g', 7, { created: now - 9000 }))
    await world.putRow(deadAs(unorderedRow('dead'), 'refused'))
    const { rows, more } = await listRows(world.system, { state: 'pending' })
    expect(rows.map(({ key }) => key)).toEqual(['g 7', 'late'])
    expect(rows[0]).toMatchObject({
      id: eventId({ source: 'shop', group: 'g', sequence: 7 }),
      state: 'pending',
      group: 'g',
    })
    expect(JSON.stringify(rows)).not.toContain('"of"')
    expect(more).toBe(false)
    expect((await listRows(world.system, { state: 'dead' })).rows).toMatchObject([{ key: 'dead', failure: 'refused' }])
    expect(await listRows(world.system, { state: 'pending', limit: 1 })).toMatchObject({
      rows: [{ key: 'g 7' }],
      more: true,
    })
  })

  it('scans for relayed rows only after it has said what that reads, and got leave', async () => {
    await world.putRow(relayed4())
    await world.putRow(unorderedRow('pending'))
    await expect(listRows(world.system, { state: 'relayed' })).rejects.toMatchObject({ code: 'INVALID_USE' })
    expect(await listRows(world.system, { state: 'relayed', onEstimate: () => false })).toEqual({
      rows: [],
      more: true,
    })
    const asked: unknown[] = []
    const onEstimate = (estimate: unknown) => asked.push(estimate) > 0
    const { rows, more } = await listRows(world.system, { state: 'relayed', onEstimate })
    expect(rows).toMatchObject([{ key: 'k4', state: 'relayed' }])
    expect(more).toBe(false)
    expect(asked).toEqual([{ rows: expect.any(Number), bytes: expect.any(Number), readUnits: expect.any(Number) }])
  })

  it('refuses a state that there is not', async () => {
    for (const options of [{ state: 'lost' }, { state: 'dead', limit: 0 }, { state: 'dead', all: true }])
      await expect(listRows(world.system, options as never)).rejects.toMatchObject({ code: 'INVALID_SETTING' })
  })
})

describe('showEvent', () => {
  it('shows row, handlers and dead letters of a key, and data only if asked', async () => {
    await world.putRow(relayed4())
    await world.die({ n: 4 }, 'shop/mail', 'mailbox full')
    await world.die({ n: 5 }, 'shop/mail', 'mailbox full')
    const view = await showEvent(world.system, row4)
    expect(view).toMatchObject({
      id: eventId(row4),
      row: { state: 'relayed', source: 'test', key: 'k4' },
      handlers: [{ name: 'shop/mail', status: 'dead', attempts: 8, failure: 'mailbox full', history: [] }],
      deadLetters: [{ handler: 'shop/mail', reason: 'mailbox full' }],
    })
    expect(view).not.toHaveProperty('body')
    expect(await showEvent(world.system, row4, { data: true })).toMatchObject({ body: bodyOf({ n: 4 }) })
    expect(world.depths().deadLetters).toMatchObject({ visible: 2, invisible: 0 })
  })

  it('finds a row by its id while it is pending or dead, and by its dead letter', async () => {
    await world.putRow(deadAs(orderedRow('g', 3), 'refused'))
    await world.putRow(relayed4())
    await world.die({ n: 4 }, 'shop/mail', 'mailbox full')
    const id = eventId({ source: 'shop', group: 'g', sequence: 3 })
    expect(await showEvent(world.system, { id })).toMatchObject({ row: { state: 'dead', key: 'g 3' }, handlers: [] })
    expect(await showEvent(world.system, { id: eventId(row4) })).toMatchObject({ row: { key: 'k4' } })
    expect(await showEvent(world.system, { source: 'shop', key: 'g 3' })).toMatchObject({
      id,
      row: { failure: 'refused' },
    })
  })

  it('finds a relayed row by its id alone with a scan that is agreed to', async () => {
    await world.putRow(relayed4())
    expect(await showEvent(world.system, { id: eventId(row4) })).toBeUndefined()
    expect(await showEvent(world.system, { id: eventId(row4) }, { onEstimate: agree })).toMatchObject({
      row: { key: 'k4' },
    })
    expect(await showEvent(world.system, { id: 'unknown' }, { onEstimate: agree })).toBeUndefined()
  })

  it('refuses what names no event', async () => {
    for (const ref of [{ id: '' }, { source: 'test' }, { source: 'test', key: 'a b' }, { id: 'x', key: 'y' }])
      await expect(showEvent(world.system, ref as never)).rejects.toMatchObject({ code: 'INVALID_SETTING' })
  })
})

describe('forget', () => {
  const stored = async () =>
    JSON.stringify([
      await world.row(row4),
      await world.entry({ n: 4 }, 'shop/mail'),
      world.aws.queue(world.system.consumers[0]?.deadLetterQueueUrl ?? '').receive(10, 0),
    ])

  it('removes the data of an event from row, ledger and dead-letter queue, and nothing of any other', async () => {
    await world.putRow(relayedRow(unorderedRow('k4', { source: 'test', body: bodyOf({ n: 4, data: 'secret' }) })))
    await world.die({ n: 4, data: 'secret' }, 'shop/mail', 'secret address')
    await world.die({ n: 5 }, 'shop/mail', 'mailbox full')
    expect(await stored()).toContain('secret')
    expect(await forget(world.system, row4, { by: 'ann', reason: 'request 17' })).toEqual({
      row: 'forgotten',
      entries: 1,
      messages: 1,
    })
    expect(await stored()).not.toContain('secret')
    const act = { action: 'forget', by: 'ann', reason: 'request 17' }
    expect(await world.row(row4)).toMatchObject({
      forgotten: expect.any(Number),
      expires: 2_000_000_000,
      history: [act],
    })
    expect(await world.entry({ n: 4 }, 'shop/mail')).toMatchObject({ status: 'dead', history: [act] })
    expect(world.depths().deadLetters).toMatchObject({ visible: 1 })
    expect(await forget(world.system, row4, { by: 'ann' })).toMatchObject({ row: 'forgotten', messages: 0 })
  })

  it('keeps a dead row from being sent, and refuses a pending one unless that is said', async () => {
    await world.putRow(deadAs(orderedRow('g', 1), 'secret'))
    await world.putRow(orderedRow('g', 2))
    const dead = { source: 'shop', key: 'g 1' }
    const pending = { source: 'shop', key: 'g 2' }
    expect(await forget(world.system, dead, { by: 'ann' })).toMatchObject({ row: 'forgotten' })
    expect(await world.row({ source: 'shop', group: 'g', sequence: 1 })).not.toHaveProperty('shard')
    await expect(forget(world.system, pending, { by: 'ann' })).rejects.toMatchObject({ code: 'INVALID_USE' })
    expect(await world.row({ source: 'shop', group: 'g', sequence: 2 })).toHaveProperty('body')
    expect(await forget(world.system, pending, { by: 'ann', undelivered: true })).toMatchObject({ row: 'forgotten' })
    expect(await world.row({ source: 'shop', group: 'g', sequence: 2 })).not.toHaveProperty('body')
  })

  it('a row that changes while it is forgotten is read again', async () => {
    const image = deadAs(unorderedRow('k4', { source: 'test' }), 'no')
    await world.putRow(image)
    let reads = 0
    world.aws.dynamo.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const answer = await next(args)
          // Somebody discards it between our read and our write.
          if (commandName === 'GetItemCommand' && ++reads === 1) {
            const Key = { pk: image['pk'], sk: image['sk'] }
            const command = {
              TableName: world.system.outboxTable,
              Key,
              UpdateExpression: 'REMOVE #shard',
              ExpressionAttributeNames: { '#shard': 'shard' },
            }
            await world.aws.dynamo.send(new UpdateItemCommand(command as never))
          }
          return answer
        },
      { step: 'initialize', name: 'meanwhile' },
    )
    // By its key: the index has it no more.
    expect(await forget(world.system, row4, { by: 'ann' })).toMatchObject({ row: 'forgotten' })
    expect(await world.row(row4)).not.toHaveProperty('body')
    expect(reads).toBeGreaterThan(1)
  })

  it('says so where there is no such event', async () => {
    expect(await forget(world.system, row4, { by: 'ann' })).toEqual({ row: 'not-found', entries: 0, messages: 0 })
    expect(identityOf({ n: 4 })).toEqual(row4)
  })
})
