import type { Clock } from '../clock.ts'
import type { LambdaContext } from './sqs-event.ts'

/** How long a claim outlives the process at most: more than clocks differ, and as little as a retry should wait. ms */
const LEASE_MARGIN_MS = 2000
/** Kept free at the end for ledger and answer: a second, or a fifth of a short invocation. ms */
const RESERVE_MS = 1000

/** Why its timer is stopped. Made once, for nobody reads it. */
const ENDED = new Error('the invocation has ended')

/** The time of one invocation, and what may still be begun in it. */
export type Invocation = {
  /** When its claims lapse, ms since 1970. */
  readonly lease: number
  /** When commits stop being retried and {@link signal} aborts, ms since 1970. */
  readonly deadline: number
  readonly signal: AbortSignal
  /** Whether another handler may begin: beside others, or alone. */
  readonly hasTime: (alone: boolean) => boolean
  /** Leaves half of the time to what must run alone: from now on nothing else begins that would reach into it. */
  readonly reserveAlone: () => void
  /** Measures one handler's run. */
  readonly measure: <Result>(run: () => Promise<Result>) => Promise<Result>
  /** Stops the timer of the signal. */
  readonly end: () => void
}

export type InvocationOptions = {
  readonly clock: Clock
  readonly context: LambdaContext
  /** A longer lease than the time left, seconds. */
  readonly leaseSeconds?: number
}

export function beginInvocation({ clock, context, leaseSeconds = 0 }: InvocationOptions): Invocation {
  const begun = clock.now()
  const whole = Math.max(0, context.getRemainingTimeInMillis())
  const reserve = Math.min(RESERVE_MS, whole / 5)
  const abort = new AbortController()
  const timer = new AbortController()
  let longest = 0
  let reserved = false
  clock.sleep(whole - reserve, timer.signal).then(
    () => abort.abort(new Error('The invocation is about to end.')),
    () => {},
  )
  return {
    lease: begun + Math.max(whole + LEASE_MARGIN_MS, leaseSeconds * 1000),
    deadline: begun + whole - reserve,
    signal: abort.signal,
    hasTime: (alone) => isTimeEnough({ left: begun + whole - clock.now(), whole, reserve, longest, alone, reserved }),
    reserveAlone: () => {
      reserved = true
    },
    measure: async (run) => {
      const started = clock.now()
      try {
        return await run()
      } finally {
        longest = Math.max(longest, clock.now() - started)
      }
    },
    end: () => timer.abort(ENDED),
  }
}

export type TimeLeft = {
  /** All in ms. */
  readonly left: number
  readonly whole: number
  readonly reserve: number
  /** The longest run of a handler in this invocation so far. */
  readonly longest: number
  readonly alone: boolean
  /** Something else must still run alone. */
  readonly reserved: boolean
}

/**
 * Whether a handler that begins now is likely to end in time. Running out of time looks like a crash: beside others it
 * costs a run alone, alone it costs an attempt, so that one must have half of the invocation.
 */
export function isTimeEnough({ left, whole, reserve, longest, alone, reserved }: TimeLeft): boolean {
  if (alone && left < whole / 2) return false
  const kept = reserved && !alone ? whole / 2 : reserve
  return left > kept + 1.5 * longest
}
