import assert from 'node:assert/strict'
import { eventId, sha256 } from '../../../src/event/identity.ts'
import type { Item } from '../shop.ts'
import { mailKey } from '../steps/handled.ts'
import type { Bulk } from './thousand.ts'

/** What the functions have stored, by key. */
export type Effects = ReadonlyMap<string, Item>

export const effectsOf = (items: readonly Item[]): Effects => new Map(items.map((item) => [item['pk'], item]))

/** How many of these mails were asked for. */
export function mailsOf(effects: Effects, orderIds: readonly string[]): number {
  return orderIds.filter((orderId) => effects.has(mailKey(orderId))).length
}

/** How many of these orders have got their stock. */
export function reservationsOf(effects: Effects, stock: Bulk['stock']): number {
  const keys = stock.flatMap((orders) => orders.map(reservationKey))
  return keys.filter((key) => effects.has(key)).length
}

/** Each mail asked for once: the mailer counts. */
export function assertMailedOnce(effects: Effects, orderIds: readonly string[]): void {
  const times = orderIds.map((orderId) => [orderId, effects.get(mailKey(orderId))?.['asked']])
  assert.deepEqual(
    times.filter(([, asked]) => asked !== 1),
    [],
    'mails that were not asked for once',
  )
}

/** Each order reserved, those of a customer in the order of placing. That it was once, the stock itself tells. */
export function assertReservedInOrder(effects: Effects, stock: Bulk['stock']): void {
  for (const orders of stock) {
    const reservations = orders.map((orderId) => effects.get(reservationKey(orderId)))
    assert.deepEqual(
      reservations.map((item) => item?.['outcome']),
      orders.map(() => 'reserved'),
    )
    const times = reservations.map((item) => Number(item?.['at']))
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
      `orders of ${orders[0]} and so on, out of their order`,
    )
  }
}

/** `sku-customer-sequence` */
function reservationKey(orderId: string): string {
  const [, group = '', sequence] = /^(.*)-(\d+)$/.exec(orderId) ?? []
  const id = eventId({ source: 'shop', group, sequence: Number(sequence) })
  return `RESERVATION#${sha256(`${id} shop/reserve-stock`)}`
}
