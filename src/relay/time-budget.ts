import type { Clock } from '../clock.ts'
import { createCallWatch } from './call-watch.ts'

/** Longest that one call to AWS may take, its SDK's own retries included. Milliseconds. */
const LONGEST_CALL_MS = 5_000
/** Kept free at the end of an invocation for what has begun: answers and marks. Milliseconds. */
const MARGIN_MS = 5_000

/** The time of one invocation. */
export type TimeBudget = {
  /** True once no new work may begin. */
  readonly over: () => boolean
  /** ms of the clock at which that is. */
  readonly end: number
  /**
   * Makes one call under a limit far below the time left: 5 s, or half of what is left. Then the signal aborts and the
   * answer is a `TimeoutError`, even if the call ignores the signal.
   */
  readonly call: <T>(send: (signal: AbortSignal) => Promise<T>) => Promise<T>
}

/** `remainingMs` is what Lambda grants; its last 5 s (of a short time: the last quarter) begin nothing new. */
export function createTimeBudget(clock: Clock, remainingMs: number): TimeBudget {
  const hardEnd = clock.now() + remainingMs
  const watch = createCallWatch(clock)
  const end = hardEnd - Math.min(MARGIN_MS, remainingMs / 4)
  return {
    end,
    over: () => clock.now() >= end,
    call: (send) => watch.within(Math.max(0, Math.min(LONGEST_CALL_MS, (hardEnd - clock.now()) / 2)), send),
  }
}
