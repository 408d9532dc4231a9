import type { NewEvent } from '../event/event.ts'
import type { ClientWrite } from '../outbox/client-write.ts'
import type { EnqueuedEvent } from '../outbox/commit.ts'
import type { Logger } from '../telemetry.ts'

/** What a handler gets beside the event. */
export type HandlerContext = {
  /** 1 for the first try; counts failures and crashes of this handler, never outages or neighbours. */
  readonly attempt: number
  /** Aborts shortly before the process is ended. No answer is given while a handler still runs. */
  readonly signal: AbortSignal
  /** 64 hex digits, the same for every try of this handler for this event: for effects outside of `commit`. */
  readonly idempotencyKey: string
  /** Whether this is a replay, or a redriven dead letter. */
  readonly redriven: boolean
  /**
   * Commits items, follow-up events and the handler's own *done* in one transaction: the effect happens once. Items are in
   * the form of the ledger's client. Conflicts are retried until the claim nears its end; a follow-up event that exists
   * already (with equal content) never cancels. At most one commit lands, and one runs at a time.
   *
   * Throws `CONDITION_FAILED` (with index and item; the handler may commit again, or return), `EVENT_CONFLICT`,
   * `CLAIM_LOST`, `TRANSACTION_BUSY`, `UNAVAILABLE`, `OUTCOME_UNKNOWN`: after the last four the handler is deferred, and
   * no attempt is spent, whether it throws or returns.
   */
  readonly commit: Commit
  /** Adds the event's id and the handler's name to each line. */
  readonly logger: Logger
}

export type Commit = (
  items: readonly ClientWrite[],
  options?: { readonly events?: readonly NewEvent[] },
) => Promise<readonly EnqueuedEvent[]>
