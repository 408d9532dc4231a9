import type { Committer } from '../outbox/commit.ts'
import type { OwnAction } from '../outbox/own-action.ts'
import type { ClaimRequest, Exhausted, TakenOver } from './decide-claim.ts'
import type { Entry, EntryKey } from './entry.ts'

/**
 * Who may run which handler for which event, and what came of it. Every answer is a value: an outage is `unavailable`,
 * never an exception. Nothing here spends an attempt unless it says so.
 */
export type Ledger = {
  /** In which form `ctx.commit` takes its items. */
  readonly kind: Committer['kind']
  /** Claims the handler for this worker, or says why not. */
  readonly claim: (request: ClaimRequest) => Promise<ClaimOutcome>
  /** Marks it done. */
  readonly complete: (claim: Claim) => Promise<SettleOutcome>
  /** Gives it back after a failure, with the attempts counted, until `due`. */
  readonly fail: (claim: Claim, failure: Failure) => Promise<SettleOutcome>
  /** Gives it back unspent, until `due` (ms since 1970). */
  readonly release: (claim: Claim, due: number) => Promise<SettleOutcome>
  /** Marks it dead, once its copy is in the dead-letter queue. `lost`: somebody has moved the row on. */
  readonly bury: (exhausted: Exhausted) => Promise<SettleOutcome>
  /** `complete` as an action of a transaction. Its condition fails for everyone but the claim's owner. */
  readonly completion: (claim: Claim) => OwnAction
  /** Commits items with the completion where there is no outbox: no events. */
  readonly committer: Committer
}

/** A worker's right to run one handler for one event until `lease` (ms since 1970). */
export type Claim = EntryKey &
  Pick<Entry, 'token' | 'lease' | 'attempts' | 'life'> & { readonly status: 'running' | 'alone' }

export type Failure = {
  /** Attempts spent, this one included; the handler's limit to spend them all. */
  readonly attempts: number
  /** ms since 1970 */
  readonly due: number
  /** 1–512 bytes without control characters. */
  readonly reason: string
}

export type ClaimOutcome =
  | { readonly status: 'claimed'; readonly claim: Claim; readonly takenOver?: TakenOver }
  | { readonly status: 'done' }
  | { readonly status: 'dead' }
  /** Nothing before `until`, ms since 1970. */
  | { readonly status: 'deferred'; readonly until: number }
  /** Ask again with `alone`, once nothing else runs; those with the fewest crashes first. */
  | { readonly status: 'wait-alone'; readonly crashes: number }
  /** Copy it to the dead-letter queue, then `bury` it. */
  | { readonly status: 'exhausted'; readonly exhausted: Exhausted }
  /** `claim`: what may stand there all the same. One to run alone that nobody gives back costs an attempt as it lapses. */
  | (Unavailable & { readonly claim?: Claim })

export type SettleOutcome =
  | { readonly status: 'settled' }
  /** The row is no longer this worker's; nothing was changed. `entry` is what stands there. */
  | { readonly status: 'lost'; readonly entry: Entry | undefined }
  | Unavailable

/** The ledger did not answer, or not understandably. What was asked may have happened: the row will tell. */
export type Unavailable = { readonly status: 'unavailable'; readonly reason: string }
