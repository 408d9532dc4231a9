import type { Clock } from '../clock.ts'
import type { Exhausted } from '../ledger/decide-claim.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Committer } from '../outbox/commit.ts'
import type { Logger, Telemetry } from '../telemetry.ts'
import type { Job } from './job.ts'

export type RunDependencies = {
  readonly ledger: Ledger
  readonly outbox?: Committer
  readonly clock: Clock
  readonly logger: Logger
  readonly telemetry: Telemetry
}

/** One handler to run for one event. */
export type Run = {
  readonly job: Job
  /** Key of the ledger's row: event id or message id. */
  readonly id: string
  readonly life: number
  readonly receiveCount: number
  readonly redriven: boolean
  /** When a claim lapses, ms since 1970. */
  readonly lease: number
  /** When commits stop being retried, ms since 1970. */
  readonly deadline: number
  readonly signal: AbortSignal
  /** Nothing else of this invocation runs beside it. */
  readonly alone: boolean
}

export type RunOutcome =
  /** Nothing is left to do: it was handled now, or was done or dead before. */
  | { readonly status: 'settled'; readonly how: 'handled' | 'done' | 'dead' }
  /** Failed or deferred: not before `due`, ms since 1970. */
  | { readonly status: 'unsettled'; readonly due: number }
  | { readonly status: 'wait-alone'; readonly crashes: number }
  /** To be copied to the dead-letter queue, then buried. */
  | { readonly status: 'exhausted'; readonly exhausted: Exhausted }
