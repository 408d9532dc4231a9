import { jitter } from '../backoff.ts'
import type { Clock } from '../clock.ts'

/** Tries that ended in a conflict, a throttle or a collision of numbers, without a deadline: about 5 s in all. */
export const MAX_BUSY_TRIES = 25
/**
 * Tries without an answer, under one token: at least 6.5 s in all, since a transaction that hangs is completed by a
 * request at least 5 s after the first; far below the 10 minutes for which DynamoDB knows a token.
 */
export const MAX_UNANSWERED_TRIES = 8

/** What a try came to, if it is to be followed by another. */
export type Pace = 'busy' | 'unanswered'

/** Waits before the next try; false, without waiting, if there is to be none. */
export type Pacer = (pace: Pace) => Promise<boolean>

/** Counts the tries of one call. With a deadline (ms of the clock), busy tries are bounded by it alone. */
export function createPacer(clock: Clock, deadline: number | undefined): Pacer {
  const tries = { busy: 0, unanswered: 0 }
  return async (pace) => {
    const count = ++tries[pace]
    if (pace === 'unanswered' ? count >= MAX_UNANSWERED_TRIES : deadline === undefined && count >= MAX_BUSY_TRIES)
      return false
    const wait =
      pace === 'busy' ? jitter(count, clock.random, { firstMs: 10, capMs: 500 }) : unansweredWait(count, clock.random)
    if (deadline !== undefined && clock.now() + wait >= deadline) return false
    await clock.sleep(wait)
    return true
  }
}

/** 200 ms doubling to 2 s, less up to a quarter: no full jitter, for the sum has a lower bound. */
function unansweredWait(count: number, random: () => number): number {
  return Math.min(2000, 200 * 2 ** (count - 1)) * (0.75 + random() / 4)
}
