import { type ConsumerOptions, createConsumer, type HandlerContext, on } from '../../src/consumer/index.ts'
import type { Event } from '../../src/index.ts'
import { StockReserved } from './events.ts'

/**
 * Another team's consumer, behind the event bus: a rule brings it the reserved stock through a standard queue. The bus may
 * deliver twice and in any order; `prepared` counts, and the ledger keeps it at 1.
 */
export function createShippingConsumer({
  shopTable,
  now,
  ...deps
}: Omit<ConsumerOptions, 'name' | 'handlers'> & { readonly shopTable: string; readonly now: () => number }) {
  const prepareParcel = async (
    { data }: Event<{ orderId: string; sku: string }>,
    ctx: HandlerContext,
  ): Promise<void> => {
    const prepared = {
      Update: {
        TableName: shopTable,
        Key: { pk: `PARCEL#${data.orderId}` },
        UpdateExpression: 'SET sku = :sku, #at = :now ADD prepared :one',
        ExpressionAttributeNames: { '#at': 'at' },
        ExpressionAttributeValues: { ':sku': data.sku, ':now': now(), ':one': 1 },
      },
    }
    await ctx.commit([prepared])
  }
  return createConsumer({ ...deps, name: 'shipping', handlers: [on(StockReserved, 'prepare-parcel', prepareParcel)] })
}
