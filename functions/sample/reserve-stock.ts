import type { HandlerContext } from '../../src/consumer/index.ts'
import { type Event, isOutboxError } from '../../src/index.ts'
import { SOURCE, StockRejected, StockReserved } from './events.ts'
import type { Order } from './place-order.ts'

/**
 * Takes an order's stock, once: the stock, the reservation, the follow-up event and "this handler is done" are one
 * transaction. When the stock does not suffice its condition fails, nothing is written, and the handler commits the
 * rejection instead.
 */
export function createReserveStock({ shopTable, now }: { readonly shopTable: string; readonly now: () => number }) {
  return async ({ data: { orderId, sku, quantity }, sequence }: Event<Order>, ctx: HandlerContext): Promise<void> => {
    const decide = (outcome: 'reserved' | 'rejected') => ({
      Put: {
        TableName: shopTable,
        Item: { pk: `RESERVATION#${ctx.idempotencyKey}`, orderId, sku, outcome, sequence, at: now() },
      },
    })
    const takeStock = {
      Update: {
        TableName: shopTable,
        Key: { pk: `STOCK#${sku}` },
        UpdateExpression: 'SET available = available - :quantity',
        ConditionExpression: 'available >= :quantity',
        ExpressionAttributeValues: { ':quantity': quantity },
      },
    }
    const followUp = { source: SOURCE, key: `stock:${orderId}`, data: { orderId, sku } }
    try {
      await ctx.commit([takeStock, decide('reserved')], { events: [StockReserved.create(followUp)] })
    } catch (error) {
      if (!isOutboxError(error, 'CONDITION_FAILED')) throw error
      await ctx.commit([decide('rejected')], { events: [StockRejected.create(followUp)] })
    }
  }
}
