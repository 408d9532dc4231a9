import type { Outbox } from '../../src/index.ts'
import { ConfirmationRequested, OrderPlaced, SOURCE } from './events.ts'

export type Order = {
  readonly orderId: string
  readonly customerId: string
  readonly sku: string
  readonly quantity: number
}

/**
 * Writes the order and its two events in one transaction: either all three are stored, or none.
 *
 * Safe to call again: the confirmation's key is the order's own, so a second call with this order id finds it stored,
 * writes nothing, and answers `placed: false`.
 */
export function createPlaceOrder({ outbox, shopTable }: { readonly outbox: Outbox; readonly shopTable: string }) {
  return async (order: Order): Promise<{ placed: boolean }> => {
    const { orderId, customerId } = order
    const { duplicate } = await outbox.transact({
      writes: [{ Put: { TableName: shopTable, Item: { pk: `ORDER#${orderId}`, ...order } } }],
      events: [
        OrderPlaced.create({ source: SOURCE, group: customerId, sequence: 'auto', data: order }),
        ConfirmationRequested.create({ source: SOURCE, key: `confirmation:${orderId}`, data: { orderId, customerId } }),
      ],
    })
    return { placed: !duplicate }
  }
}
