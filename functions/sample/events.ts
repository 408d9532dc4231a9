import * as v from 'valibot'
import { defineEvent } from '../../src/index.ts'

/** The events of the shop. Producers and handlers share these definitions, so `data` is typed and checked on both sides. */

export const SOURCE = 'shop'

const Order = v.object({
  orderId: v.string(),
  customerId: v.string(),
  sku: v.string(),
  quantity: v.pipe(v.number(), v.integer(), v.minValue(1)),
})

/** Ordered within the customer's group: a customer's orders get stock in the order they were placed. */
export const OrderPlaced = defineEvent({ type: 'order.placed', schema: Order })

/** Unordered: confirmations may overtake each other. */
export const ConfirmationRequested = defineEvent({
  type: 'order.confirmation-requested',
  schema: v.object({ orderId: v.string(), customerId: v.string() }),
})

export const StockReserved = defineEvent({
  type: 'stock.reserved',
  schema: v.object({ orderId: v.string(), sku: v.string() }),
})

export const StockRejected = defineEvent({
  type: 'stock.rejected',
  schema: v.object({ orderId: v.string(), sku: v.string() }),
})
