import { randomUUID } from 'node:crypto'
import type { Clock } from '../../src/clock.ts'

export type TestClock = Clock & {
  /** Lengths of the sleeps so far, ms. */
  readonly sleeps: readonly number[]
  readonly advance: (ms: number) => void
}

/**
 * A clock that never waits: a sleep moves its time on at once. Ids are real ones, since an engine knows the tokens of all
 * tests; chance is always one half.
 */
export function testClock(start = Date.UTC(2026, 0, 31, 12)): TestClock {
  let now = start
  const sleeps: number[] = []
  return {
    now: () => now,
    sleep: async (ms) => {
      sleeps.push(ms)
      now += ms
    },
    random: () => 0.5,
    id: randomUUID,
    sleeps,
    advance: (ms) => {
      now += ms
    },
  }
}
