import { jitter } from '../backoff.ts'
import type { Clock } from '../clock.ts'

const FIRST_PAUSE_MS = 100
/** Longest pause after outages in a row. */
const OUTAGE_PAUSE_MS = 30_000
/** Enough to reach the longest pause. */
const MAX_DOUBLINGS = 16

/** How fast a worker looks for events: at once while there are some, less and less often while there are none. */
export type PullPace = {
  /** A look found so many, or was not answered. */
  readonly looked: (found: number) => void
  /** The ledger did not answer. */
  readonly outage: () => void
  /** Something was handled. */
  readonly handled: () => void
  /** Outages since something was handled. */
  readonly outages: () => number
  /** Until the next look, ms. */
  readonly pauseMs: () => number
}

/** While the ledger is out, events are not taken at full speed only to be given back. `idleMs`: the longest idle pause. */
export function createPullPace({ random }: Pick<Clock, 'random'>, idleMs: number): PullPace {
  let quiet = 0
  let outages = 0
  const pause = (times: number, capMs: number): number => {
    const longest = Math.min(capMs, FIRST_PAUSE_MS * 2 ** Math.min(times, MAX_DOUBLINGS))
    return longest / 2 + jitter(1, random, { firstMs: longest / 2, capMs })
  }
  return {
    looked: (found) => {
      quiet = found === 0 ? quiet + 1 : 0
    },
    outage: () => {
      outages += 1
    },
    handled: () => {
      outages = 0
    },
    outages: () => outages,
    pauseMs: () => Math.max(pause(quiet, idleMs), outages === 0 ? 0 : pause(outages, OUTAGE_PAUSE_MS)),
  }
}
