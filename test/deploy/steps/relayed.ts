import assert from 'node:assert/strict'
import { rowState } from '../../../src/outbox/row.ts'
import { eventually } from '../eventually.ts'
import type { Sample } from '../sample.ts'
import { type Item, readAll } from '../shop.ts'
import type { Step } from '../step.ts'
import { ORDERS } from './orders.ts'

/** Those, and the README's. */
const PLACED = ORDERS.flat().length + 1
/** Two of each order, and the follow-up of its reservation. */
const EVENTS = 3 * PLACED

export const rowsRelayed = (sample: Sample): Step => ({
  title: 'every row is relayed and every ledger entry done',
  differs: {
    how: 'it takes any answer of the relay for success, and neither bisects nor bounds retries',
    tests: ['test/relay/relay.test.ts', 'test/integration/relay.test.ts'],
  },
  run: async (world) => {
    const { outboxTable, ledgerTable } = sample.outputs()
    const rows = await eventually(`${EVENTS} relayed rows`, async () => {
      const found = (await readAll(world, outboxTable)).filter(isEvent)
      return found.length >= EVENTS && found.every(isRelayed) && found
    })
    assert.equal(rows.length, EVENTS)
    for (const row of rows) assertExpiry(row)
    const entries = await eventually('done ledger entries', async () => {
      const found = await readAll(world, ledgerTable)
      return found.length >= 2 * PLACED && found.every(({ status }) => status === 'done') && found
    })
    return `${rows.length} rows, ${entries.length} entries`
  },
})

export const isEvent = ({ body }: Item): boolean => body !== undefined

export const isRelayed = ({ shard }: Item): boolean => rowState(shard) === 'relayed'

/** A day at least, and in seconds. */
function assertExpiry({ expires }: Item): void {
  const days = (Number(expires) - Date.now() / 1000) / 86_400
  assert(days > 0.9 && days < 366, `a relayed row expires in ${days} days`)
}
