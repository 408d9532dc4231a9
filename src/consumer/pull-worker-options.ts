import type { Clock } from '../clock.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Committer } from '../outbox/commit.ts'
import type { Puller } from '../outbox/create-puller.ts'
import { checkOptions, inRange, invalidSetting } from '../settings.ts'
import type { Logger, Telemetry } from '../telemetry.ts'
import { checkParts } from './check-parts.ts'
import type { Handler } from './handler.ts'

export type PullWorkerOptions = {
  /** Name of the consumer, permanent: 1–64 letters, digits, `.`, `_` and `-`. The same for all processes that share the work. */
  readonly name: string
  /** Made by `outbox.pull`. Its lease must be longer than the handlers of one event take together. */
  readonly pull: Puller
  readonly ledger: Ledger
  /** Needed for follow-up events in `ctx.commit`. In the ledger's account and Region, with the ledger's kind of client. */
  readonly outbox?: Committer
  /** Made by `on`; at least one. */
  readonly handlers: readonly Handler[]
  /** Types of this source that need no handler. Any other type without one is dead-lettered. */
  readonly ignore?: readonly string[]
  /** Ends the worker: it claims no more, and what runs may end. */
  readonly signal?: AbortSignal
  /** Events handled at once, of different groups. 1–100, default 10. */
  readonly concurrency?: number
  /** Longest pause between two looks while nothing is due. 1–3600 seconds, default 5; it begins with 0.1. */
  readonly idleSeconds?: number
  /** Default: JSON lines on the console. */
  readonly logger?: Logger
  /** Default: none. */
  readonly telemetry?: Telemetry
  readonly clock?: Clock
}

const OPTIONS: readonly (keyof PullWorkerOptions)[] = [
  'name',
  'pull',
  'ledger',
  'outbox',
  'handlers',
  'ignore',
  'signal',
  'concurrency',
  'idleSeconds',
  'logger',
  'telemetry',
  'clock',
]
const CONCURRENCY = { min: 1, max: 100, default: 10, unit: 'events' }
const IDLE_SECONDS = { min: 1, max: 3600, default: 5, unit: 'seconds' }

/** Refuses what would go wrong at the first event, and what would go wrong at the first crash. */
export function checkWorker(options: PullWorkerOptions): { readonly concurrency: number; readonly idleMs: number } {
  checkOptions('runPullWorker', options, OPTIONS)
  const { pull, handlers } = options
  checkParts(options)
  if (typeof pull?.claim !== 'function') throw invalidSetting('pull', 'must be made by outbox.pull')
  // The ledger is to judge a handler that ends the process: it knows whose fault it was.
  const most = Math.max(...handlers.map(({ maxAttempts }) => maxAttempts))
  if (pull.maxClaims < most + 2)
    throw invalidSetting('pull', `must have at least ${most + 2} maxClaims, two more than its handlers' maxAttempts`)
  return {
    concurrency: inRange('concurrency', options.concurrency, CONCURRENCY),
    idleMs: inRange('idleSeconds', options.idleSeconds, IDLE_SECONDS) * 1000,
  }
}
