import type { Clock } from '../clock.ts'

/** Keeps calls to AWS within their time. */
export type CallWatch = {
  /**
   * Makes one call that may take `ms` milliseconds. Then its signal aborts and the answer is a `TimeoutError`, even if
   * the call ignores the signal.
   */
  readonly within: <T>(ms: number, send: (signal: AbortSignal) => Promise<T>) => Promise<T>
}

type Call = { readonly end: number; readonly expire: () => void }

/** Why the one timer is stopped. Made once: an error made for each stop would cost more than all else here. */
const NO_CALLS = new Error('no call is under way')

/** One timer for all calls that are under way together: each on its own would cost the relay a tenth of its CPU. */
export function createCallWatch(clock: Clock): CallWatch {
  const calls = new Set<Call>()
  let timer = new AbortController()

  const watch = async (signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      const next = Math.min(...[...calls].map(({ end }) => end))
      // Its time may be over by now: a process that has little to run with, or was frozen.
      await clock.sleep(Math.max(0, next - clock.now()), signal)
      const now = clock.now()
      for (const call of calls) if (call.end <= now) call.expire()
    }
  }
  const begin = (call: Call): void => {
    calls.add(call)
    if (calls.size > 1) return
    timer = new AbortController()
    // Rejects once the last call has ended and the timer is stopped.
    watch(timer.signal).catch(() => {})
  }
  const end = (call: Call): void => {
    if (calls.delete(call) && calls.size === 0) timer.abort(NO_CALLS)
  }
  return {
    within: async (ms, send) => {
      const { promise: expired, reject } = Promise.withResolvers<never>()
      const controller = new AbortController()
      const expire = (): void => {
        end(call)
        const error = timeoutError(ms)
        controller.abort(error)
        reject(error)
      }
      const call: Call = { end: clock.now() + ms, expire }
      begin(call)
      try {
        return await Promise.race([send(controller.signal), expired])
      } finally {
        end(call)
      }
    },
  }
}

function timeoutError(ms: number): Error {
  const error = new Error(`no answer within ${Math.round(ms)} ms`)
  error.name = 'TimeoutError'
  return error
}
