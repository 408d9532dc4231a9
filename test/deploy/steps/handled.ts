import assert from 'node:assert/strict'
import { eventId, sha256 } from '../../../src/event/identity.ts'
import { eventually } from '../eventually.ts'
import type { Sample } from '../sample.ts'
import { type Item, readAll } from '../shop.ts'
import type { Step } from '../step.ts'
import { isReserved, ORDERS, REJECTED, STOCK } from './orders.ts'

/** Where the mailer keeps an order's mail: under the idempotency key of the handler that asks for it. */
export function mailKey(orderId: string): string {
  const id = eventId({ source: 'shop', key: `confirmation:${orderId}` })
  return `MAIL#${sha256(`${id} shop/send-confirmation`)}`
}

export const handledOnce = (sample: Sample): Step => ({
  title: 'both handlers took effect, once, in the order of each group',
  differs: {
    how: 'it invokes for one batch of a FIFO queue at a time, not for one of each group',
    tests: ['test/integration/pipeline.test.ts'],
  },
  run: async (world) => {
    const { shopTable } = sample.outputs()
    const orders = ORDERS.flat()
    const items = await eventually('a reservation and a mail for each order', async () => {
      const found = (await readAll(world, shopTable)).filter(({ orderId }) => !isReadme(orderId))
      return count(found, 'RESERVATION#') >= orders.length && count(found, 'MAIL#') >= orders.length && found
    })
    const byKey = new Map(items.map((item) => [item['pk'], item]))
    for (const { orderId } of orders) assert.equal(byKey.get(mailKey(orderId))?.['asked'], 1, `mails of ${orderId}`)
    const rejected = reservations(items).filter(({ outcome }) => outcome === 'rejected')
    assert.deepEqual(new Set(rejected.map(({ orderId }) => orderId)), REJECTED)
    assert.equal(reservations(items).length, orders.length)
    assert.equal(byKey.get('STOCK#last-one')?.['available'], 0)
    assert.equal(byKey.get('STOCK#tea')?.['available'], (STOCK['tea'] ?? 0) - orders.filter(isTea).length)
    return `${orders.filter(isReserved).length} reserved, ${REJECTED.size} rejected, ${orders.length} mails`
  },
})

/** The README's own order is not one of those. */
const isReadme = (orderId: unknown): boolean => orderId !== undefined && !String(orderId).startsWith('order-')

const isTea = ({ sku }: { readonly sku: string }): boolean => sku === 'tea'

function count(items: readonly Item[], prefix: string): number {
  return items.filter(({ pk }) => String(pk).startsWith(prefix)).length
}

function reservations(items: readonly Item[]): Item[] {
  return items.filter(({ pk }) => String(pk).startsWith('RESERVATION#'))
}
