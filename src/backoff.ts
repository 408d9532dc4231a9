/** How long failures wait. One schedule for every path: the relay's own retries, pull workers and handlers. */
export type Backoff = {
  /** Delay after the first failure, seconds. 0–86400, default 5. */
  readonly firstSeconds: number
  /** Longest delay, seconds. 0–86400, default 300. */
  readonly capSeconds: number
}

/** 5 s, doubling with each failure, up to 5 minutes. */
export const DEFAULT_BACKOFF: Backoff = { firstSeconds: 5, capSeconds: 300 }

/** Failures, or crashes while alone, before an event is dead-lettered. 1–100. */
export const DEFAULT_MAX_ATTEMPTS = 8

/** Enough to reach the highest cap from one second. */
const MAX_DOUBLINGS = 17

/**
 * Seconds to wait after the `attempts`-th failure: `min(cap, first × 2^(attempts - 1))`, so 5, 10, 20 … 300 by default.
 * `attempts` counts from 1.
 */
export function retryBackoff(attempts: number, { firstSeconds, capSeconds }: Backoff = DEFAULT_BACKOFF): number {
  // Bounded: a queue without a limit hands a message out more than 1,024 times, and 0 × infinity is no delay.
  return Math.min(capSeconds, firstSeconds * 2 ** Math.min(attempts - 1, MAX_DOUBLINGS))
}

/** A short delay with full jitter for calls that collide, in milliseconds: 0 to `min(capMs, firstMs × 2^(tries - 1))`. */
export function jitter(tries: number, random: () => number, { firstMs = 25, capMs = 1000 } = {}): number {
  return random() * Math.min(capMs, firstMs * 2 ** (tries - 1))
}
