import type { Attempt, Call } from './attempt.ts'
import type { CommitOutcome } from './commit.ts'
import type { Pace } from './pace.ts'

/** Where a call stands between two tries. */
export type State = {
  readonly attempt: Attempt
  /** A request of this attempt may have been applied: it was sent, and no answer says otherwise. */
  readonly maybeApplied: boolean
}

/** A try that failed. */
export type Failed = State & { readonly call: Call; readonly error: unknown }

/** What follows from one try: the outcome, or another try. */
export type Step =
  | { readonly done: CommitOutcome }
  | {
      readonly done?: never
      readonly pace: Pace
      readonly reason: string
      readonly cause: unknown
      readonly maybeApplied: boolean
      /** Plan the attempt anew, without these drafts, under a new token. Undefined: the same attempt again. */
      readonly skipped?: ReadonlySet<number>
    }
