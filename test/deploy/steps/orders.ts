import type { Order } from '../../../functions/sample/place-order.ts'

/** What is placed: nine orders of plenty, and three of one customer for the last piece of something. */

export const STOCK: Readonly<Record<string, number>> = { tea: 100, 'last-one': 1 }

const order = (customer: number, n: number, sku: string): Order => ({
  orderId: `order-${customer}-${n}`,
  customerId: `customer-${customer}`,
  sku,
  quantity: 1,
})

/** By customer, each in the order of placing. */
export const ORDERS: readonly (readonly Order[])[] = [
  ...[1, 2, 3].map((customer) => [1, 2, 3].map((n) => order(customer, n, 'tea'))),
  [1, 2, 3].map((n) => order(4, n, 'last-one')),
]

/** Handled in the order of placing, the first of the three gets the last piece. */
export const REJECTED: ReadonlySet<string> = new Set(['order-4-2', 'order-4-3'])

export const isReserved = ({ orderId }: Order): boolean => !REJECTED.has(orderId)
