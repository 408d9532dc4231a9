import type { NewEvent } from '../event/event.ts'
import type { ClientKind, ClientWrite, SendTransaction } from './client-write.ts'
import type { OwnAction } from './own-action.ts'

/**
 * What happens when a keyed event of the call is stored already with equal type and data. `cancel`: nothing is written,
 * the event is the idempotency key of the whole call. `commit`: the writes and the new events are written without it.
 */
export type OnExisting = 'cancel' | 'commit'

/** One transaction: the caller's writes, conditions of this package's own tables, and events. */
export type CommitRequest = {
  /** In the form of the client given. */
  readonly writes: readonly ClientWrite[]
  /** Conditional actions on tables of ours (the ledger's completion). A failed one ends the call: `guard-failed`. */
  readonly guards?: readonly OwnAction[]
  readonly events: readonly NewEvent[]
  readonly onExisting: OnExisting
  /** `ClientRequestToken` of the first request, 1–36 characters. Default: a random one. */
  readonly token?: string
  /** Conflicts, throttles and number collisions are retried until then (ms of the clock). Default: 25 tries, about 5 s. */
  readonly deadline?: number
  /** For a framework that owns the call. Default: the client given. */
  readonly send?: SendTransaction
}

/** What became of one event of the call, in the order given. */
export type EnqueuedEvent = {
  /**
   * The event's id. Absent only for an `auto` event of a call that turned out to be a duplicate: its number was given
   * by the first run.
   */
  readonly id?: string
  /** False: it was stored before, by another call or as an equal twin in this one. */
  readonly inserted: boolean
  /** The number of an ordered event. */
  readonly sequence?: number
}

/**
 * What became of a transaction. Only `committed` wrote something now; only `unknown` may have. After every other one
 * nothing was written.
 */
export type CommitOutcome =
  | { readonly status: 'committed'; readonly events: readonly EnqueuedEvent[] }
  /** Every keyed event is stored already with equal content: an earlier call did this work. */
  | { readonly status: 'duplicate'; readonly events: readonly EnqueuedEvent[] }
  /** An event's key is stored with other content, or (under `cancel`) the call mixes duplicates and new events. */
  | { readonly status: 'conflict' }
  /** The condition of `guards[index]` does not hold; `item` is what stands there, as native values. */
  | { readonly status: 'guard-failed'; readonly index: number; readonly item?: Readonly<Record<string, unknown>> }
  /** The condition of `writes[index]` does not hold; `item` in the client's form, if the write asked for `ALL_OLD`. */
  | { readonly status: 'condition-failed'; readonly index: number; readonly item?: unknown; readonly cause: unknown }
  /** Conflicts, throttles or number collisions outlasted the retries. `reason` is the AWS code. */
  | { readonly status: 'busy'; readonly reason: string; readonly cause: unknown }
  /** Refused for a reason that may pass: permission, missing table, credentials. `reason` is the AWS error's name. */
  | { readonly status: 'unavailable'; readonly reason: string; readonly cause: unknown }
  /** No answer came, and no row of ours proves that it was applied. */
  | { readonly status: 'unknown'; readonly cause: unknown }

/**
 * Commits one transaction and says what became of it. Throws only for mistakes in the request (`INVALID_EVENT`,
 * `INVALID_TRANSACTION`, `INVALID_USE`), before or instead of writing anything.
 */
export type Committer = {
  readonly kind: ClientKind
  readonly commit: (request: CommitRequest) => Promise<CommitOutcome>
}
