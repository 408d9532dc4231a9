import { randomUUID } from 'node:crypto'

/**
 * Time and chance, injected everywhere so that tests can hold both. Only this file reads the real ones.
 */
export type Clock = {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Resolves after `ms` milliseconds of this clock's time; rejects with the signal's reason if it aborts first. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  /** A number in [0, 1), for jitter. */
  readonly random: () => number
  /** A fresh random id (UUID v4, 36 characters), for tokens. */
  readonly id: () => string
}

/** The machine's own clock. */
export const systemClock: Clock = {
  now: Date.now,
  sleep,
  random: Math.random,
  id: randomUUID,
}

/** Node's own promise of a timer makes an error of its own when it is aborted, with a stack: twenty times the cost. */
function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', abort, { once: true })
  })
}
