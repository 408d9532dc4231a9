import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DEFAULT_BACKOFF } from '../../src/backoff.ts'
import { createClaims } from '../../src/ledger/claims.ts'
import type { Claim } from '../../src/ledger/ledger.ts'
import { proves } from '../cases.ts'
import { testClock } from '../support/clock.ts'
import { createMemoryLedgerStore } from '../support/memory-ledger-store.ts'
import { runs } from './runs.ts'

const WORKERS = 4
const MAX_ATTEMPTS = 3
const LEASE_MS = 10_000

/** What a worker does next. A worker that pauses or crashes keeps its claim in mind: that is what makes it stale. */
const step = fc.record({
  worker: fc.nat({ max: WORKERS - 1 }),
  action: fc.constantFrom('claim', 'claim-alone', 'claim-alone', 'complete', 'fail', 'fail', 'release', 'forget'),
  /** Time that passes first, ms. */
  pause: fc.constantFrom(0, 0, 0, 100, 6000, 11_000, 30_000),
  later: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
})

describe('claims under any interleaving', () => {
  it(
    'have one owner, never run more often than allowed, and hide every stale write',
    proves('late-worker'),
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
          const clock = testClock(1_800_000_000_000)
          const store = createMemoryLedgerStore()
          const ledger = createClaims({ store, clock, keepSeconds: 30 * 86_400 })
          const key = { id: 'e', name: 'c/h' }
          const held = new Map<number, Claim>()
          let life = 1
          for (const { worker, action, pause, later } of steps) {
            clock.advance(pause)
            const before = store.read(key)
            const mine = held.get(worker)
            const owns = mine !== undefined && before?.token === mine.token && before.status === mine.status
            if (action === 'claim' || action === 'claim-alone') {
              if (later) life++
              const lease = clock.now() + LEASE_MS
              const request = {
                ...key,
                life,
                lease,
                alone: action === 'claim-alone',
                maxAttempts: MAX_ATTEMPTS,
                backoff: DEFAULT_BACKOFF,
              }
              const outcome = await ledger.claim(request)
              if (outcome.status === 'claimed') {
                // One owner: whoever held it before has lapsed or ended.
                const held = before?.status === 'running' || before?.status === 'alone'
                expect(held && before.lease > clock.now()).toBe(false)
                expect(outcome.claim.attempts).toBeLessThan(MAX_ATTEMPTS)
                // A crash at the limit ends its round; a later one begins as any other does.
                const anew = before?.status === 'alone' && before.attempts + 1 >= MAX_ATTEMPTS && life > before.life
                if (held) expect(outcome.claim.status).toBe(anew ? 'running' : 'alone')
              } else {
                expect(store.read(key)).toEqual(before)
              }
              if (outcome.status === 'claimed') held.set(worker, outcome.claim)
              if (outcome.status === 'exhausted') {
                // What an earlier round has spent is no reason to dead-letter a message of a later one.
                expect(outcome.exhausted.life).toBeGreaterThanOrEqual(life)
                await ledger.bury(outcome.exhausted)
              }
            } else if (action === 'forget') {
              held.delete(worker)
            } else if (mine !== undefined) {
              const attempts = mine.attempts + 1
              const outcome =
                action === 'complete'
                  ? await ledger.complete(mine)
                  : action === 'release'
                    ? await ledger.release(mine, clock.now() + 1000)
                    : await ledger.fail(mine, { attempts, due: clock.now() + 1000, reason: 'failed' })
              const after = store.read(key)
              if (!owns) expect(after).toEqual(before)
              else expect(outcome.status).toBe('settled')
              expect(after?.attempts ?? 0).toBeLessThanOrEqual(MAX_ATTEMPTS)
            }
          }
        }),
        runs(300),
      )
    },
  )

  it('end the same whatever answers are lost or throttled on the way', proves('claim-answer-lost'), async () => {
    const fault = fc.constantFrom('lost-answer' as const, 'throttle' as const)
    await fc.assert(
      fc.asyncProperty(fc.array(fault, { maxLength: 4 }), fc.array(fault, { maxLength: 4 }), async (first, second) => {
        const clock = testClock()
        const store = createMemoryLedgerStore()
        const ledger = createClaims({ store, clock, keepSeconds: 86_400 })
        store.faults.push(...first)
        const request = {
          id: 'e',
          name: 'c/h',
          life: 1,
          lease: clock.now() + LEASE_MS,
          alone: false,
          maxAttempts: 3,
          backoff: DEFAULT_BACKOFF,
        }
        const outcome = await ledger.claim(request)
        if (outcome.status !== 'claimed') throw new Error(outcome.status)
        expect(store.read(request)?.token).toBe(outcome.claim.token)
        store.faults.push(...second)
        expect(await ledger.complete(outcome.claim)).toEqual({ status: 'settled' })
        expect(store.read(request)?.status).toBe('done')
      }),
      runs(100),
    )
  })
})
