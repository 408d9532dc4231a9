import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventId, firstSequence } from '../../src/event/identity.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { itemSize } from '../../src/outbox/item-size.ts'
import { pendingShard } from '../../src/outbox/row.ts'
import { proves } from '../cases.ts'
import { testClock } from '../support/clock.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { openShop, type Shop } from '../support/shop.ts'

let dynamo: TestDynamo
beforeAll(async () => {
  dynamo = await startDynamo()
})
afterAll(() => dynamo.stop())

const placed = { source: 'shop', type: 'order.placed' }

describe.each(['client', 'documentClient'] as const)('transact through %s', (kind) => {
  let shop: Shop
  beforeAll(async () => {
    shop = await openShop(dynamo, { kind })
  })

  it(
    'writes data and event together, the row as the format says',
    proves('item-forms', 'no-ttl-on-pending'),
    async () => {
      const { outbox, clock } = shop
      const event = {
        ...placed,
        key: 'row',
        data: { total: 1 },
        headers: { tenant: 'a' },
        time: '2026-01-01T00:00:00Z',
      }
      const created = clock.now()
      const id = eventId({ source: 'shop', key: 'row' })
      const result = await outbox.transact({
        writes: [shop.newOrder('row', { total: 1, tags: ['x'] })],
        events: [event],
      })
      expect(result).toEqual({ duplicate: false, events: [{ id, inserted: true }] })
      expect(await shop.order('row')).toEqual({ id: 'row', total: 1, tags: ['x'] })
      const pk = 'K#shop/row'
      const row = (await shop.rows()).find((one) => one['pk'] === pk)
      expect(row).toEqual({
        pk,
        sk: '-',
        v: 1,
        region: 'eu-central-1',
        type: 'order.placed',
        body: expect.any(String),
        created,
        instance: expect.stringMatching(/^[0-9a-f]{16}$/),
        shard: pendingShard({ pk, sk: '-' }),
        due: created + 120_000,
      })
      expect(JSON.parse(String(row?.['body']))).toMatchObject({
        id,
        data: { total: 1 },
        tenant: 'a',
        time: event.time,
        life: String(created),
      })
    },
  )

  it('keeps a row with 300 bytes of data under 1 KB', async () => {
    const data = { text: 'x'.repeat(289) }
    await shop.outbox.transact({ events: [{ ...placed, group: 'order-0123456789', sequence: 1, data }] })
    const row = (await shop.rawRows()).find((one) => one['pk']?.S === 'G#shop/order-0123456789')
    expect(JSON.stringify(data)).toHaveLength(300)
    expect(itemSize(row ?? {})).toBeLessThan(1024)
  })

  it('is a duplicate with the same id when an equal event is stored', proves('key-already-stored'), async () => {
    const { outbox, order, newOrder } = shop
    const first = await outbox.transact({ events: [{ ...placed, key: 'dup', data: { a: 1, b: [2] } }] })
    const again = { events: [{ ...placed, key: 'dup', data: { b: [2], a: 1 } }] }
    const second = await outbox.transact({ writes: [newOrder('dup-2')], ...again })
    expect(second).toEqual({ duplicate: true, events: [{ id: first.events[0]?.id, inserted: false }] })
    expect(await order('dup-2')).toBeUndefined()
    const third = await outbox.transact({ writes: [newOrder('dup-3')], ...again, onExisting: 'commit' })
    expect(third).toEqual({ duplicate: false, events: [{ id: first.events[0]?.id, inserted: false }] })
    expect(await order('dup-3')).toBeDefined()
  })

  it('is a conflict that changes nothing when the stored event differs', proves('key-already-stored'), async () => {
    const { outbox } = shop
    const event = { ...placed, key: 'secret-key', data: 1 }
    await outbox.transact({ events: [event] })
    for (const onExisting of ['cancel', 'commit'] as const) {
      for (const other of [
        { ...event, data: 2 },
        { ...event, type: 'order.paid' },
      ]) {
        const call = outbox.transact({ writes: [shop.newOrder('conflict')], events: [other], onExisting })
        await expect(call).rejects.toMatchObject({
          code: 'EVENT_CONFLICT',
          message: expect.not.stringMatching(/secret|shop|paid/),
        })
      }
    }
    expect(await shop.order('conflict')).toBeUndefined()
  })

  it('is a conflict to mix duplicates and new events, unless the rest is to be committed', async () => {
    const { outbox } = shop
    const [old, fresh] = [
      { ...placed, key: 'mix-1', data: 1 },
      { ...placed, key: 'mix-2', data: 1 },
    ]
    await outbox.transact({ events: [old] })
    await expect(outbox.transact({ events: [old, fresh] })).rejects.toMatchObject({ code: 'EVENT_CONFLICT' })
    const { events } = await outbox.transact({ events: [old, fresh], onExisting: 'commit' })
    expect(events.map(({ inserted }) => inserted)).toEqual([false, true])
  })

  it('writes nothing twice when a job runs again', proves('job-runs-again'), async () => {
    const job = () =>
      shop.outbox.transact({
        writes: [shop.newOrder('job'), shop.increment('job-counter')],
        events: [
          { ...placed, key: 'job', data: 1 },
          { ...placed, group: 'jobs', sequence: 'auto', data: 1 },
        ],
      })
    expect(await job()).toMatchObject({ duplicate: false })
    expect(await job()).toEqual({
      duplicate: true,
      events: [{ id: eventId({ source: 'shop', key: 'job' }), inserted: false }, { inserted: false }],
    })
    expect(await shop.order('job-counter')).toMatchObject({ count: 1 })
  })

  it('gives the index and the old item of the caller’s failed condition', proves('cancelled-retried'), async () => {
    const { outbox } = shop
    await outbox.transact({ writes: [shop.newOrder('taken', { total: 7 })] })
    const call = outbox.transact({
      writes: [shop.increment('unrelated'), shop.newOrder('taken')],
      events: [{ ...placed, key: 'taken', data: 1 }],
    })
    const item = kind === 'client' ? { id: { S: 'taken' }, total: { N: '7' } } : { id: 'taken', total: 7 }
    await expect(call).rejects.toMatchObject({
      code: 'CONDITION_FAILED',
      details: { index: 1, item, reason: 'ConditionalCheckFailed' },
    })
    expect(await shop.order('unrelated')).toBeUndefined()
  })

  it('numbers auto events one after the other from the day’s first number', async () => {
    const auto = { ...placed, group: 'auto', sequence: 'auto' as const, data: 1 }
    const first = firstSequence(shop.clock.now())
    const numbers = async () =>
      (await shop.outbox.transact({ events: [auto, auto] })).events.map(({ sequence }) => sequence)
    expect(await numbers()).toEqual([first, first + 1])
    expect(await numbers()).toEqual([first + 2, first + 3])
  })

  it('gives out no number again whose row has expired, though an older one, dead, still stands', async () => {
    const event = { ...placed, group: 'expired', data: 1 }
    const clock = testClock(shop.clock.now() - 8 * 86_400_000)
    const lastWeek = createOutbox({ client: dynamo.client, tableName: shop.outboxTable, clock })
    await lastWeek.transact({ events: [{ ...event, sequence: 'auto' }] })
    const { events } = await shop.outbox.transact({ events: [{ ...event, sequence: 'auto' }] })
    expect(events[0]?.sequence).toBe(firstSequence(shop.clock.now()))
  })

  it('numbers a group in one row though its writers stand on both sides of midnight', async () => {
    const event = { ...placed, group: 'midnight', sequence: 'auto' as const, data: 1 }
    const midnight = Math.ceil(shop.clock.now() / 86_400_000) * 86_400_000
    const at = (now: number) =>
      createOutbox({ client: dynamo.client, tableName: shop.outboxTable, clock: testClock(now) })
    const { events } = await at(midnight - 60_000).transact({ events: [event] })
    const [{ sequence: first = 0 } = {}] = events
    const writers = [-100, 100, -100, 100].map((ms) => at(midnight + ms).transact({ events: [event] }))
    const numbers = (await Promise.all(writers)).map((written) => written.events[0]?.sequence)
    expect(numbers.toSorted()).toEqual([1, 2, 3, 4].map((n) => first + n))
  })

  it('stores equal twins of one call once', async () => {
    const twin = { ...placed, key: 'twin', data: 1 }
    const { events } = await shop.outbox.transact({ events: [twin, twin] })
    expect(events.map(({ inserted }) => inserted)).toEqual([true, false])
  })

  it('collects writes and events of helpers and sends them once', async () => {
    shop.faults.reset()
    const { result, events } = await shop.outbox.collect(async (tx) => {
      tx.write(shop.newOrder('collected'))
      await tx.collect((inner) => inner.enqueue({ ...placed, key: 'collected', data: 1 }))
      return 'done'
    })
    expect([result, events.length]).toEqual(['done', 1])
    expect(shop.faults.calls).toEqual(['TransactWriteItemsCommand'])
    const nothing = shop.outbox.collect((tx) => {
      tx.write(shop.newOrder('dropped'))
      throw new Error('mine')
    })
    await expect(nothing).rejects.toThrow('mine')
    expect(await shop.order('dropped')).toBeUndefined()
  })

  it('sends nothing for a call that adds nothing', async () => {
    shop.faults.reset()
    expect(await shop.outbox.collect(() => 7)).toEqual({ duplicate: false, events: [], result: 7 })
    expect(shop.faults.calls).toEqual([])
  })

  it(
    'refuses before sending',
    proves('transaction-limits', 'not-json', 'two-actions-one-item', 'item-forms'),
    async () => {
      const { outbox, newOrder, faults } = shop
      faults.reset()
      const writes = Array.from({ length: 100 }, (_, n) => newOrder(`limit-${n}`))
      const event = { ...placed, key: 'limit', data: 1 }
      const refused: [Promise<unknown>, string][] = [
        [outbox.transact({ writes, events: [event] }), 'INVALID_TRANSACTION'],
        [outbox.transact({ events: [{ ...event, data: 'x'.repeat(410_000) }] }), 'INVALID_TRANSACTION'],
        [outbox.transact({ writes: [newOrder('x'), newOrder('x')] }), 'INVALID_TRANSACTION'],
        [outbox.transact({ events: [event, { ...event, data: 2 }] }), 'EVENT_CONFLICT'],
        [outbox.transact({ events: [{ ...event, data: { total: 1n } }] }), 'INVALID_EVENT'],
        [
          outbox.transact({
            writes: [{ Put: { TableName: 't', Item: kind === 'client' ? { id: 'x' } : { id: { S: 'x' } } } } as never],
          }),
          'INVALID_TRANSACTION',
        ],
        [outbox.transact({ evnets: [event] } as never), 'INVALID_SETTING'],
        [outbox.transact({ events: [event], token: 'x'.repeat(37) }), 'INVALID_SETTING'],
        [outbox.transact({ events: [event], onExisting: 'ignore' as never }), 'INVALID_SETTING'],
      ]
      for (const [call, code] of refused) await expect(call).rejects.toMatchObject({ code })
      expect(faults.calls).toEqual([])
    },
  )

  it('lets a framework send, with the request in the form of the client', async () => {
    const inputs: unknown[] = []
    await shop.outbox.transact({
      writes: [shop.newOrder('framework')],
      events: [{ ...placed, key: 'framework', data: 1 }],
      token: 'my-token',
      send: async (input) => inputs.push(input),
    })
    const text = (value: string) => (kind === 'client' ? { S: value } : value)
    expect(inputs).toEqual([
      {
        ClientRequestToken: 'my-token',
        TransactItems: [
          shop.newOrder('framework'),
          {
            Put: expect.objectContaining({
              TableName: shop.outboxTable,
              Item: expect.objectContaining({ pk: text('K#shop/framework') }),
            }),
          },
        ],
      },
    ])
  })

  it(
    'keeps the order of interleaved transactions of one group by their numbers',
    proves('interleaved-in-group'),
    async () => {
      const auto = (writer: number) => ({ ...placed, group: 'interleaved', sequence: 'auto' as const, data: writer })
      const writers = Array.from({ length: 12 }, (_, n) =>
        (n % 2 === 0 ? shop.outbox : shop.other).transact({ events: [auto(n), auto(n)] }),
      )
      const numbers = (await Promise.all(writers)).map(({ events }) => events.map(({ sequence = 0 }) => sequence))
      const first = firstSequence(shop.clock.now())
      expect(numbers.flat().sort()).toEqual(Array.from({ length: 24 }, (_, n) => first + n))
      // The two of one transaction are neighbours.
      expect(numbers.every(([a = 0, b]) => a + 1 === b)).toBe(true)
    },
  )
})

describe('a document client with options of its own', () => {
  it('stores our rows alike and returns old items under those options', proves('item-forms'), async () => {
    const translate = {
      marshallOptions: { convertEmptyValues: true, removeUndefinedValues: true },
      unmarshallOptions: { wrapNumbers: true },
    }
    const shop = await openShop(dynamo, { kind: 'documentClient', translate })
    const events = [{ ...placed, group: 'options', sequence: 'auto' as const, data: { empty: '' } }]
    await shop.outbox.transact({ writes: [shop.newOrder('a', { total: 7, gone: undefined, empty: '' })], events })
    expect(await shop.order('a')).toEqual({ id: 'a', total: 7, empty: null })
    const call = shop.outbox.transact({ writes: [shop.newOrder('a')], events })
    await expect(call).rejects.toMatchObject({ details: { item: { total: { value: '7' } } } })
    const { events: second } = await shop.outbox.transact({ events })
    expect(second[0]?.sequence).toBe(firstSequence(shop.clock.now()) + 1)
  })

  it('refuses what it cannot marshal, before sending', async () => {
    const shop = await openShop(dynamo, { kind: 'documentClient' })
    const call = shop.outbox.transact({ writes: [shop.newOrder('a', { nested: { gone: undefined } })] })
    await expect(call).rejects.toMatchObject({ code: 'INVALID_TRANSACTION', details: { path: 'writes[0]' } })
  })
})

describe('createOutbox', () => {
  it('wants exactly one client and knows its options', async () => {
    const shop = await openShop(dynamo, { kind: 'client' })
    const { createOutbox } = await import('../../src/outbox/create-outbox.ts')
    const { client } = dynamo
    for (const options of [
      { tableName: 't' },
      { client, documentClient: client, tableName: 't' },
      { client },
      { client, tableName: 't', table: 'x' },
      { client, tableName: 't', region: '' },
    ]) {
      expect(() => createOutbox(options as never)).toThrow(expect.objectContaining({ code: 'INVALID_SETTING' }))
    }
    expect(shop.outbox.kind).toBe('client')
  })

  it('writes the trace of the call and the Region given', async () => {
    const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const shop = await openShop(dynamo, { kind: 'client', traceparent: () => trace })
    await shop.outbox.transact({ events: [{ ...placed, key: 'traced', data: 1 }] })
    const Key = { pk: { S: 'K#shop/traced' }, sk: { S: '-' } }
    const { Item } = await dynamo.client.send(new GetItemCommand({ TableName: shop.outboxTable, Key }))
    expect(JSON.parse(Item?.['body']?.S ?? '')).toMatchObject({ traceparent: trace })
  })
})
