import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { PulledEvent } from '../../src/outbox/pull-claim.ts'
import type { StoredRow } from '../../src/outbox/pull-store.ts'
import { rowKey } from '../../src/outbox/row.ts'
import { proves } from '../cases.ts'
import { keyed, numbered, pullRow } from '../support/pull-rows.ts'
import { createPullWorld, LEASE_MS } from '../support/pull-world.ts'
import { runs } from './runs.ts'

const WORKERS = 3
const MAX_CLAIMS = 3
const ORDERED = [1, 2, 3, 4].map((n) => numbered('g', n))
const ROWS = [...ORDERED, keyed('a'), keyed('b')]

/** What a worker does next. One that pauses or crashes keeps its claims in mind: that is what makes it stale. */
const step = fc.record({
  worker: fc.nat({ max: WORKERS - 1 }),
  action: fc.constantFrom('claim', 'claim', 'acknowledge', 'fail', 'release', 'renew', 'dead-letter', 'forget'),
  /** Time that passes first, ms. */
  pause: fc.constantFrom(0, 0, 0, 1000, 6000, LEASE_MS / 2, LEASE_MS, 2 * LEASE_MS),
  fault: fc.constantFrom('ok' as const, 'ok' as const, 'ok' as const, 'lost-answer' as const),
})

const isWaiting = (row: StoredRow | undefined) => String(row?.['shard']).startsWith('w#')

describe('pull workers under any interleaving', () => {
  it(
    'hold a row one at a time, keep a group in order, spend no more claims than allowed, and write nothing stale',
    proves('late-worker', 'pull-worker-last-claim', 'claim-answer-lost'),
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
          const { store, clock, worker } = createPullWorld()
          for (const identity of ROWS) store.put(pullRow(identity))
          const pullers = Array.from({ length: WORKERS }, (_, n) => worker(`w-${n}`, { maxClaims: MAX_CLAIMS }))
          const held = new Map<number, PulledEvent>()
          const rowsOf = () => ROWS.map((identity) => store.get(rowKey(identity)))

          for (const { worker: n, action, pause, fault } of steps) {
            clock.advance(pause)
            const puller = pullers[n]
            if (puller === undefined) continue
            const before = rowsOf()
            store.faults.splice(0, store.faults.length, fault)
            if (action === 'forget') held.delete(n)
            else if (action === 'claim') {
              const [claimed] = await puller.claim()
              if (claimed !== undefined) {
                const seen = before.find(
                  (row) => row?.['pk'] === claimed.hold.key.pk && row['sk'] === claimed.hold.key.sk,
                )
                expect(isWaiting(seen) && Number(seen?.['due']) <= clock.now()).toBe(true)
                expect(claimed.claims).toBeLessThanOrEqual(MAX_CLAIMS)
                const earlier = ORDERED.filter(
                  (_, at) => claimed.event.sequence !== undefined && at + 1 < claimed.event.sequence,
                )
                for (const identity of earlier) expect(isWaiting(store.get(rowKey(identity)))).toBe(false)
                held.set(n, claimed)
              }
            } else {
              const mine = held.get(n)
              if (mine === undefined) continue
              const row = store.get(mine.hold.key)
              const owns =
                isWaiting(row) &&
                row?.['token'] === mine.hold.token &&
                row['due'] === mine.lease &&
                mine.lease > clock.now()
              if (action === 'acknowledge') await puller.acknowledge(mine)
              else if (action === 'fail') await puller.fail(mine, 'failed')
              else if (action === 'release') await puller.release(mine, clock.now() + 1000)
              else if (action === 'dead-letter') await puller.deadLetter(mine, 'why')
              else {
                const renewed = await puller.renew(mine)
                if (renewed !== undefined) held.set(n, renewed)
              }
              // Only the holder changes a row, and only the row it holds.
              const after = rowsOf()
              const changed = ROWS.filter((_, at) => after[at] !== before[at])
              expect(changed.length).toBe(owns ? 1 : 0)
            }
            for (const row of rowsOf()) {
              expect(Number(row?.['claims'] ?? 0)).toBeLessThanOrEqual(MAX_CLAIMS)
              // A row that is pending or dead never expires.
              if (row?.['shard'] !== undefined) expect(row['expires']).toBeUndefined()
            }
          }

          // Whatever happened: one more worker brings every row to its end, in order.
          const last = worker('last', { maxClaims: MAX_CLAIMS })
          store.faults.length = 0
          for (let rounds = 0; rowsOf().some(isWaiting); rounds++) {
            expect(rounds).toBeLessThan(100)
            for (const claimed of await last.claim({ limit: 10 })) expect(await last.acknowledge(claimed)).toBe(true)
            clock.advance(LEASE_MS)
          }
        }),
        runs(200),
      )
    },
  )
})
