import type { Backoff } from '../backoff.ts'
import { checkBackoff, checkShortName } from '../checks.ts'
import { type Clock, systemClock } from '../clock.ts'
import type { Exhausted } from '../ledger/decide-claim.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Committer } from '../outbox/commit.ts'
import { checkOptions, inRange, invalidSetting, RANGES } from '../settings.ts'
import { type Logger, type Telemetry, unfailing } from '../telemetry.ts'
import type { HandlerContext } from './handler-context.ts'
import { runHandler } from './run-handler.ts'

export type ProcessOnceOptions = {
  readonly consumer: string
  readonly handler: string
  /** What names the event: text of 1–1024 bytes, the same for each of its deliveries. */
  readonly eventId: string
  /** Which round of the event this is, ms since 1970. A later one runs an ended event again. Default 0. */
  readonly life?: number
  /** How long the claim holds. 1–3600 seconds, default 60: longer than `fn` can take. */
  readonly leaseSeconds?: number
  /** 1–100, default 8. */
  readonly maxAttempts?: number
  /** Delays between tries, seconds. 0–86400 each; default 5, doubling, up to 300. */
  readonly backoff?: Partial<Backoff>
  /** Whether nothing else runs in this process meanwhile, so that a crash is this event's own. Default true. */
  readonly alone?: boolean
  /** For follow-up events in `ctx.commit`. */
  readonly outbox?: Committer
  readonly signal?: AbortSignal
  readonly logger?: Logger
  readonly telemetry?: Telemetry
  readonly clock?: Clock
}

/** Half of what DynamoDB takes as a partition key. */
const MAX_ID_BYTES = 1024

const OPTIONS: readonly (keyof ProcessOnceOptions)[] = [
  'consumer',
  'handler',
  'eventId',
  'life',
  'leaseSeconds',
  'maxAttempts',
  'backoff',
  'alone',
  'outbox',
  'signal',
  'logger',
  'telemetry',
  'clock',
]

export type OnceOutcome<Result> =
  /** `fn` ran now, and its end is written. */
  | { readonly status: 'handled'; readonly result: Result | undefined }
  /** An earlier delivery was handled. */
  | { readonly status: 'duplicate' }
  /** An earlier delivery was dead-lettered. */
  | { readonly status: 'dead' }
  /** Deliver it again, not before `due` (ms since 1970). `error` is what `fn` threw, if it did. */
  | { readonly status: 'later'; readonly due: number; readonly error?: unknown }
  /** It lapsed in another process: deliver it again with `alone`, while nothing else runs. */
  | { readonly status: 'wait-alone' }
  /** Out of attempts. Put it aside, then call `bury`; until then each delivery answers this again. */
  | {
      readonly status: 'exhausted'
      readonly reason: string
      readonly attempts: number
      readonly bury: () => Promise<boolean>
    }

/**
 * The ledger alone, for people with a batch loop of their own: runs `fn` unless this handler is done with this event, at
 * most one at a time. Throws only for wrong options; an outage of the ledger is `later`.
 */
export async function processOnce<Result>(
  ledger: Ledger,
  options: ProcessOnceOptions,
  fn: (context: HandlerContext) => Promise<Result> | Result,
): Promise<OnceOutcome<Result>> {
  checkOptions('processOnce', options, OPTIONS)
  if (typeof ledger?.claim !== 'function') throw invalidSetting('ledger', 'must be made by createLedger')
  if (typeof fn !== 'function') throw invalidSetting('fn', 'must be a function')
  const { consumer, handler, eventId, life = 0, alone = true, outbox } = options
  const { clock = systemClock } = options
  const name = `${checkShortName('consumer', consumer)}/${checkShortName('handler', handler)}`
  if (typeof eventId !== 'string' || eventId === '' || Buffer.byteLength(eventId) > MAX_ID_BYTES) {
    throw invalidSetting('eventId', `must be text of 1–${MAX_ID_BYTES} bytes`)
  }
  if (!Number.isSafeInteger(life) || life < 0) throw invalidSetting('life', 'must be whole milliseconds since 1970')
  const backoff = checkBackoff(options.backoff)
  const maxAttempts = inRange('maxAttempts', options.maxAttempts, RANGES.maxAttempts)
  const leaseMs = inRange('leaseSeconds', options.leaseSeconds, RANGES.leaseSeconds) * 1000
  const lease = clock.now() + leaseMs
  const deadline = lease - Math.min(1000, leaseMs / 5)
  const ran: { result?: Result; error?: unknown } = {}
  const run = async (context: HandlerContext): Promise<void> => {
    try {
      ran.result = await fn(context)
    } catch (error) {
      ran.error = error
      throw error
    }
  }
  const dependencies = { ledger, ...unfailing(options), clock, ...(outbox === undefined ? {} : { outbox }) }
  const { signal = new AbortController().signal } = options
  const job = { name, maxAttempts, backoff, run }
  const once = { job, id: eventId, life, receiveCount: 1, redriven: false, lease, deadline, signal, alone }
  const outcome = await runHandler(dependencies, once)
  switch (outcome.status) {
    case 'settled':
      if (outcome.how === 'handled') return { status: 'handled', result: ran.result }
      return { status: outcome.how === 'done' ? 'duplicate' : 'dead' }
    case 'unsettled':
      return { status: 'later', due: outcome.due, ...('error' in ran ? { error: ran.error } : {}) }
    case 'wait-alone':
      return { status: 'wait-alone' }
    case 'exhausted':
      return exhaustedOutcome(ledger, outcome.exhausted)
  }
}

function exhaustedOutcome(ledger: Ledger, exhausted: Exhausted): OnceOutcome<never> {
  const { failure: reason, attempts } = exhausted
  return {
    status: 'exhausted',
    reason,
    attempts,
    bury: async () => (await ledger.bury(exhausted)).status === 'settled',
  }
}
