import assert from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import type { Sample } from '../sample.ts'
import { placeOrder, put, readAll } from '../shop.ts'
import type { Step } from '../step.ts'
import { mailKey } from './handled.ts'
import { ORDERS, STOCK } from './orders.ts'

/** Before there is any stock, so that it is rejected. */
export const placeDocumented = (sample: Sample): Step => ({
  title: 'the order that README places, handled',
  run: async (world) => {
    const { placeOrderFunction, shopTable } = sample.outputs()
    const { orderId, typed } = await sample.placeDocumented((order) => placeOrder(world, placeOrderFunction, order))
    await eventually('its rejection and its mail', async () => {
      const items = await readAll(world, shopTable)
      const rejected = items.some((item) => item['orderId'] === orderId && item['outcome'] === 'rejected')
      return rejected && items.some(({ pk }) => pk === mailKey(orderId))
    })
    return typed ? 'by its own command' : 'by the SDK: no AWS CLI from 1.29 or 2.13 here'
  },
})

export const placeOrders = (sample: Sample): Step => ({
  title: 'orders placed through Lambda Invoke',
  run: async (world) => {
    const { placeOrderFunction, shopTable } = sample.outputs()
    for (const [sku, available] of Object.entries(STOCK)) await put(world, shopTable, { pk: `STOCK#${sku}`, available })
    const placeInTurn = async (orders: (typeof ORDERS)[number]): Promise<void> => {
      for (const order of orders) assert.equal(await placeOrder(world, placeOrderFunction, order), true)
    }
    await Promise.all(ORDERS.map(placeInTurn))
    const [again] = ORDERS.flat()
    assert(again)
    assert.equal(await placeOrder(world, placeOrderFunction, again), false, 'an order was placed twice')
    return `${ORDERS.flat().length} orders of ${ORDERS.length} customers; a repeated one writes nothing`
  },
})
