import { type Clock, systemClock } from '../clock.ts'
import { invalidSetting } from '../settings.ts'

/** Two processes with the same pair read the same time. */
export type TimeScale = {
  /** How many times faster than real time: over 0. 1 is real time. */
  readonly speed: number
  /** The moment, ms since 1970, at which this clock and the machine's agree. */
  readonly origin: number
}

/**
 * A clock that runs `speed` times as fast as the machine's, so that a schedule of minutes passes in seconds unchanged.
 * Sleeps are as exact as the machine's timers, about 1 ms: that is `speed` ms of this clock.
 */
export function scaledClock({ speed, origin }: TimeScale): Clock {
  if (!(speed > 0 && Number.isFinite(speed))) throw invalidSetting('speed', 'must be a number over 0')
  if (speed === 1) return systemClock
  return {
    ...systemClock,
    now: () => Math.floor(origin + (systemClock.now() - origin) * speed),
    // Rounded up: a timer cuts fractions off, and would end early.
    sleep: (ms, signal) => systemClock.sleep(Math.ceil(ms / speed), signal),
  }
}

/** The longest delay that a timer of Node takes, ms. A longer one would fire at once. */
export const LONGEST_TIMER_MS = 2_147_483_647
