import type { Clock } from '../clock.ts'

/** A clock that stands still until it is told to move. */
export type ManualClock = Clock & {
  /**
   * Moves time on by `ms`, waking every sleeper whose time has come, each at its own moment and in order. Sleepers that
   * a woken one starts are woken too if they end within the span.
   */
  readonly advance: (ms: number) => Promise<void>
  /** How many sleepers wait: lets a test wait until the code under test sleeps. */
  readonly sleepers: () => number
  /** When the next sleeper wakes, ms since 1970; undefined if nobody sleeps. */
  readonly nextWake: () => number | undefined
}

type Sleeper = { readonly at: number; readonly wake: () => void }

/**
 * A clock for tests: `now` starts at `start` (ms since 1970) and moves only by `advance`. `random` gives the middle of
 * its range, always; `id` counts: `00000000-0000-4000-8000-000000000001` and on.
 */
export function createManualClock(start = 1_700_000_000_000): ManualClock {
  let now = start
  let ids = 0
  const waiting = new Set<Sleeper>()

  const next = (): Sleeper | undefined => [...waiting].reduce<Sleeper | undefined>(earlier, undefined)

  return {
    now: () => now,
    random: () => 0.5,
    id: () => `00000000-0000-4000-8000-${(++ids).toString(16).padStart(12, '0')}`,
    sleepers: () => waiting.size,
    nextWake: () => next()?.at,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const abort = (): void => {
          waiting.delete(sleeper)
          reject(signal?.reason)
        }
        const wake = (): void => {
          waiting.delete(sleeper)
          signal?.removeEventListener('abort', abort)
          resolve()
        }
        const sleeper: Sleeper = { at: now + Math.max(0, ms), wake }
        signal?.addEventListener('abort', abort, { once: true })
        waiting.add(sleeper)
      }),
    advance: async (ms) => {
      const end = now + ms
      await settle()
      for (let sleeper = next(); sleeper !== undefined && sleeper.at <= end; sleeper = next()) {
        now = Math.max(now, sleeper.at)
        sleeper.wake()
        await settle()
      }
      now = end
    },
  }
}

function earlier(first: Sleeper | undefined, second: Sleeper): Sleeper {
  return first === undefined || second.at < first.at ? second : first
}

/** Lets everything that is ready to run do so: promise callbacks first, then one turn of the event loop. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
