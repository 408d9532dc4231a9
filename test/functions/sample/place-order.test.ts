import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPlaceOrder, type Order } from '../../../functions/sample/place-order.ts'
import { decodeBody } from '../../../src/event/codec.ts'
import { createOutbox } from '../../../src/outbox/create-outbox.ts'
import { createTables } from '../../../src/outbox/dynamo-create-tables.ts'
import { proves } from '../../cases.ts'
import { startDynamo, type TestDynamo } from '../../support/dynamo.ts'
import { createSampleShop, type SampleShop } from '../../support/sample-shop.ts'

let dynamo: TestDynamo
let shop: SampleShop
let outboxTable: string
let placeOrder: (order: Order) => Promise<{ placed: boolean }>
beforeAll(async () => {
  dynamo = await startDynamo()
  outboxTable = dynamo.tableName('outbox')
  await createTables({ client: dynamo.client, outboxTable })
  shop = await createSampleShop(dynamo.client, dynamo.tableName('shop'))
  const outbox = createOutbox({ documentClient: shop.documentClient, tableName: outboxTable })
  placeOrder = createPlaceOrder({ outbox, shopTable: shop.shopTable })
})
afterAll(() => dynamo.stop())

const order = (orderId: string): Order => ({
  orderId,
  customerId: `customer of ${orderId}`.replaceAll(' ', '-'),
  sku: 'tea',
  quantity: 2,
})
const eventsOf = async (orderId: string) =>
  (await shop.scan(outboxTable)).flatMap(({ body }) => {
    const decoded = decodeBody(String(body))
    return decoded.ok && (decoded.event.data as Order).orderId === orderId ? [decoded.event] : []
  })

describe('placeOrder', () => {
  it('writes the order with its two events', async () => {
    expect(await placeOrder(order('a'))).toEqual({ placed: true })
    expect(await shop.item('ORDER#a')).toEqual({ pk: 'ORDER#a', ...order('a') })
    const events = await eventsOf('a')
    expect(events.map(({ type, group, key }) => [type, group ?? key]).toSorted()).toEqual([
      ['order.confirmation-requested', 'confirmation:a'],
      ['order.placed', 'customer-of-a'],
    ])
    expect(events.find(({ type }) => type === 'order.placed')?.data).toEqual(order('a'))
  })

  it('writes nothing twice when it is called again', proves('job-runs-again'), async () => {
    await placeOrder(order('b'))
    const events = await eventsOf('b')
    expect(await placeOrder(order('b'))).toEqual({ placed: false })
    expect(await eventsOf('b')).toEqual(events)
  })

  it('places an order once for two calls at once', async () => {
    const placed = await Promise.all([placeOrder(order('c')), placeOrder(order('c'))])
    expect(placed.map((one) => one.placed).toSorted()).toEqual([false, true])
    expect(await eventsOf('c')).toHaveLength(2)
  })

  it('writes nothing at all for an order that breaks its schema', async () => {
    await expect(placeOrder({ ...order('d'), quantity: 0 })).rejects.toMatchObject({ code: 'INVALID_EVENT' })
    expect([await shop.item('ORDER#d'), await eventsOf('d')]).toEqual([undefined, []])
  })
})
