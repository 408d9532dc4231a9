import assert from 'node:assert/strict'
import type { Sample } from '../sample.ts'
import { placeOrder, put } from '../shop.ts'
import type { Step } from '../step.ts'
import { ORDERS, STOCK } from './orders.ts'

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
