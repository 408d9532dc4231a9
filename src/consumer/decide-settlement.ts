import { retryBackoff } from '../backoff.ts'
import { type ErrorCode, isOutboxError } from '../errors.ts'
import type { Claim, Failure } from '../ledger/ledger.ts'
import { failureReason } from '../settings.ts'
import type { CommitState } from './commit-context.ts'
import type { Job } from './job.ts'

/** How a handler's run ended. */
export type RunEnd = { readonly threw: false } | { readonly threw: true; readonly error: unknown }

/** What to write into the ledger after a run. */
export type Settlement =
  | { readonly action: 'complete' }
  /** Nothing: the commit wrote it. */
  | { readonly action: 'none'; readonly threw: boolean }
  /** Give it back unspent. `due` in ms since 1970. */
  | { readonly action: 'release'; readonly due: number }
  | { readonly action: 'fail'; readonly failure: Failure }

/** Errors of this package that are nobody's failure: what they say may pass by itself. */
const PASSING: readonly ErrorCode[] = ['CLAIM_LOST', 'TRANSACTION_BUSY', 'UNAVAILABLE', 'OUTCOME_UNKNOWN']

export type SettlementContext = {
  readonly claim: Claim
  readonly job: Job
  /** How often the queue has handed the message out: how long a deferral waits. */
  readonly receiveCount: number
  readonly now: number
}

/**
 * Decides what a run has come to. A commit that landed is done, whatever the handler did then; one that ended in conflict,
 * throttle, outage, lost claim or unknown is a deferral. Of the rest, only throwing spends an attempt.
 */
export function decideSettlement(end: RunEnd, commit: CommitState, context: SettlementContext): Settlement {
  if (commit.status === 'landed') return { action: 'none', threw: end.threw }
  if (end.threw && isOutboxError(end.error, 'PERMANENT')) return failed(end.error, context, true)
  if (commit.status === 'undecided' || (end.threw && isPassing(end.error))) {
    const { now, receiveCount, job } = context
    return { action: 'release', due: now + retryBackoff(receiveCount, job.backoff) * 1000 }
  }
  if (end.threw) return failed(end.error, context)
  if (commit.status === 'refused') return failed(commit.error, context)
  return { action: 'complete' }
}

function failed(error: unknown, { claim, job, now }: SettlementContext, permanent = false): Settlement {
  const attempts = permanent ? Math.max(job.maxAttempts, claim.attempts + 1) : claim.attempts + 1
  const due = now + retryBackoff(attempts, job.backoff) * 1000
  return { action: 'fail', failure: { attempts, due, reason: reasonOf(error) } }
}

function isPassing(error: unknown): boolean {
  return PASSING.some((code) => isOutboxError(error, code))
}

/** Name and message of what was thrown, fit to be stored. Anything can be thrown. */
function reasonOf(error: unknown): string {
  try {
    if (isOutboxError(error, 'PERMANENT')) return failureReason(String(error.message))
    return failureReason(String(error))
  } catch {
    return 'something was thrown that has no text'
  }
}
