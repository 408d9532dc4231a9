import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Order } from '../../../functions/sample/place-order.ts'
import { createReserveStock } from '../../../functions/sample/reserve-stock.ts'
import { createConsumer } from '../../../src/consumer/consumer.ts'
import { on } from '../../../src/consumer/handler.ts'
import type { HandlerContext } from '../../../src/consumer/handler-context.ts'
import { encodeBody } from '../../../src/event/codec.ts'
import type { Event } from '../../../src/event/event.ts'
import { createLedger } from '../../../src/ledger/dynamo-ledger.ts'
import { createOutbox } from '../../../src/outbox/create-outbox.ts'
import { createTables } from '../../../src/outbox/dynamo-create-tables.ts'
import { sqsRecord } from '../../../src/testing/records.ts'
import { proves } from '../../cases.ts'
import { startDynamo, type TestDynamo } from '../../support/dynamo.ts'
import { createSampleShop, type SampleShop } from '../../support/sample-shop.ts'

let dynamo: TestDynamo
let shop: SampleShop
let tables: { outboxTable: string; ledgerTable: string }
beforeAll(async () => {
  dynamo = await startDynamo()
  tables = { outboxTable: dynamo.tableName('outbox'), ledgerTable: dynamo.tableName('ledger') }
  await createTables({ client: dynamo.client, ...tables })
  shop = await createSampleShop(dynamo.client, dynamo.tableName('shop'))
})
afterAll(() => dynamo.stop())

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

type Handle = (event: Event<Order>, context: HandlerContext) => Promise<void>

/** The handler in a consumer on real tables; `deliver` gives the order's message once more. */
function open(wrap: (handle: Handle) => Handle = (handle) => handle) {
  const { documentClient, shopTable } = shop
  const consumer = createConsumer({
    name: 'shop',
    ledger: createLedger({ documentClient, tableName: tables.ledgerTable }),
    outbox: createOutbox({ documentClient, tableName: tables.outboxTable }),
    queue: { setVisibility: async (_, all) => all.map(() => 'changed'), deadLetter: async () => ({ status: 'sent' }) },
    handlers: [
      on('order.placed', 'reserve-stock', wrap(createReserveStock({ shopTable, now: () => 7 })) as never, {
        backoff: { firstSeconds: 0 },
      }),
    ],
    logger: quiet,
  })
  return {
    deliver: (order: Order) => consumer({ Records: [recordOf(order)] }, { getRemainingTimeInMillis: () => 30_000 }),
  }
}

const order = (orderId: string, sku: string, quantity: number): Order => ({ orderId, customerId: 'c', sku, quantity })
const identityOf = ({ orderId }: Order) => ({ source: 'shop', group: orderId, sequence: 1 })
const recordOf = (given: Order) =>
  sqsRecord({
    groupId: `shop/${given.orderId}`,
    body: encodeBody({
      identity: identityOf(given),
      type: 'order.placed',
      time: '2026-01-31T12:00:00Z',
      dataText: JSON.stringify(given),
      headers: {},
      life: 1000,
    }),
  })
const reservations = async ({ orderId }: Order) =>
  (await shop.scan(shop.shopTable)).filter(
    ({ pk, ...item }) => String(pk).startsWith('RESERVATION#') && item['orderId'] === orderId,
  )
const followUps = async ({ orderId }: Order) =>
  (await shop.scan(tables.outboxTable)).filter(({ pk }) => pk === `K#shop/stock:${orderId}`).map(({ type }) => type)

describe('reserveStock', () => {
  it('takes the stock, once for any number of deliveries', proves('commit-is-one'), async () => {
    const given = order('a', 'tea', 2)
    await shop.stockUp('tea', 5)
    const { deliver } = open()
    for (let times = 0; times < 3; times += 1) expect(await deliver(given)).toEqual({ batchItemFailures: [] })
    expect(await shop.item('STOCK#tea')).toMatchObject({ available: 3 })
    const [reservation, ...others] = await reservations(given)
    expect(others).toEqual([])
    expect(reservation).toMatchObject({ sku: 'tea', outcome: 'reserved', sequence: 1, at: 7 })
    expect(reservation?.['pk']).toMatch(/^RESERVATION#[0-9a-f]{64}$/)
    expect(await followUps(given)).toEqual(['stock.reserved'])
  })

  it('rejects what the stock does not suffice for, and leaves the stock', async () => {
    const [large, unknown] = [order('b', 'milk', 6), order('c', 'unheard of', 1)]
    await shop.stockUp('milk', 5)
    const { deliver } = open()
    for (const given of [large, unknown, large]) expect(await deliver(given)).toEqual({ batchItemFailures: [] })
    expect(await shop.item('STOCK#milk')).toMatchObject({ available: 5 })
    for (const given of [large, unknown]) {
      expect(await reservations(given)).toMatchObject([{ outcome: 'rejected' }])
      expect(await followUps(given)).toEqual(['stock.rejected'])
    }
  })

  it('has happened when it throws after its commit', proves('commit-landed-handler-throws'), async () => {
    const given = order('d', 'rice', 1)
    await shop.stockUp('rice', 1)
    const { deliver } = open((handle) => async (event, ctx) => {
      await handle(event, ctx)
      throw new Error('after all')
    })
    for (let times = 0; times < 2; times += 1) expect(await deliver(given)).toEqual({ batchItemFailures: [] })
    expect(await reservations(given)).toMatchObject([{ outcome: 'reserved' }])
  })

  it('has not happened when it dies before its commit, and runs again', async () => {
    const given = order('e', 'salt', 1)
    await shop.stockUp('salt', 1)
    let runs = 0
    const { deliver } = open((handle) => async (event, ctx) => {
      runs += 1
      if (runs === 1) throw new Error('too early')
      await handle(event, ctx)
    })
    const [failure] = (await deliver(given)).batchItemFailures
    expect(failure?.itemIdentifier).toBe(recordOf(given).messageId)
    expect(await shop.item('STOCK#salt')).toMatchObject({ available: 1 })
    expect(await deliver(given)).toEqual({ batchItemFailures: [] })
    expect(await shop.item('STOCK#salt')).toMatchObject({ available: 0 })
    expect(await followUps(given)).toEqual(['stock.reserved'])
  })
})
