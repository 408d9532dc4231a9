import type { Clock } from '../clock.ts'
import { LONGEST_TIMER_MS } from './scaled-clock.ts'

/** Lets one loop sleep until there is something to do. */
export type Waker = {
  /** Ends the wait that is going on, or the next one at once. */
  readonly wake: () => void
  /** Resolves when woken, at the moment `until` (clock's ms since 1970), or when the signal aborts. */
  readonly wait: (until: number | undefined) => Promise<void>
}

export function createWaker(clock: Clock, stopped: AbortSignal): Waker {
  let woken = false
  let current: AbortController | undefined
  const wake = (): void => {
    woken = true
    current?.abort(new Error('woken'))
  }
  stopped.addEventListener('abort', wake, { once: true })
  return {
    wake,
    wait: async (until) => {
      if (!woken) {
        current = new AbortController()
        const ms = until === undefined ? LONGEST_TIMER_MS : Math.max(1, until - clock.now())
        await clock.sleep(Math.min(ms, LONGEST_TIMER_MS), current.signal).catch(() => {})
        current = undefined
      }
      woken = false
    },
  }
}
