import { isOutboxError, OutboxError } from '../errors.ts'
import type { Claim, Ledger } from '../ledger/ledger.ts'
import type { ClientWrite } from '../outbox/client-write.ts'
import type { CommitOutcome, Committer } from '../outbox/commit.ts'
import { checkOptions } from '../settings.ts'
import type { Commit } from './handler-context.ts'

/** What a handler's commits have come to. */
export type CommitState =
  /** No commit, or only ones that the caller's own condition refused: the handler's return decides. */
  | { readonly status: 'open' }
  /** The effect and *done* are in the table, whatever the handler does now. */
  | { readonly status: 'landed' }
  /** Conflict, throttle, outage, lost claim or unknown outcome: nobody's fault, so nothing is spent. */
  | { readonly status: 'undecided' }
  /** The request itself was wrong: returning as if nothing had happened is a failure too. */
  | { readonly status: 'refused'; readonly error: unknown }

export type CommitContextOptions = {
  readonly claim: Claim
  readonly ledger: Ledger
  /** Without one, a commit takes items but no events. */
  readonly outbox?: Committer
  /** Until when conflicts are retried, ms since 1970. */
  readonly deadline: number
}

export type CommitContext = {
  readonly commit: Commit
  /**
   * What the commits have come to, once those still running have ended: a handler need not have awaited them. From the call
   * on no other one begins: the row may be done without it, and its refusal would look like a commit that had landed.
   */
  readonly settled: () => Promise<CommitState>
}

/** The `commit` of one run of a handler, and the memory of what became of it. */
export function createCommitContext(options: CommitContextOptions): CommitContext {
  let state: CommitState = { status: 'open' }
  let running: Promise<unknown> | undefined
  let ended = false

  const run: Commit = async (items, given = {}) => {
    try {
      const outcome = await send(options, items, given)
      state = stateAfter(outcome, options.claim)
      if (state.status === 'landed') return 'events' in outcome ? outcome.events : []
      throw commitError(outcome)
    } catch (error) {
      if (state.status === 'open' && !isOutboxError(error, 'CONDITION_FAILED')) state = { status: 'refused', error }
      throw error
    }
  }

  return {
    // Refusals leave the state alone: they say nothing of the commit that landed or runs.
    commit: (items, given) => {
      if (ended) return misuse('commit was called after its handler had ended: await all work inside the handler')
      if (state.status === 'landed') return misuse('commit has landed: a handler commits once')
      if (running !== undefined) return misuse('commit is still running: await it before the next one')
      state = { status: 'open' }
      const result = run(items, given)
      running = result.then(
        () => (running = undefined),
        () => (running = undefined),
      )
      return result
    },
    settled: async () => {
      ended = true
      await running
      return state
    },
  }
}

/** `onExisting: commit`: a follow-up that is stored already, with equal content, is left out and the rest commits. */
async function send(
  { claim, ledger, outbox, deadline }: CommitContextOptions,
  items: readonly ClientWrite[],
  given: NonNullable<Parameters<Commit>[1]>,
): Promise<CommitOutcome> {
  checkOptions('commit', given, ['events'])
  const { events = [] } = given
  if (outbox === undefined && events.length > 0)
    return misuse('commit takes events only where the consumer has an outbox')
  const committer = outbox ?? ledger.committer
  return committer.commit({ writes: items, guards: [ledger.completion(claim)], events, onExisting: 'commit', deadline })
}

/**
 * The guard is our own claim. Where it fails because the row is *done* under our own token, an earlier try of this very
 * commit was applied and its answer lost:
 *
 *     us ── items + done where t1, running ──▶ applied, answer lost
 *     us ── items + done where t1, running ──▶ refused: the row is done, by t1 ⇒ landed
 */
function stateAfter(outcome: CommitOutcome, claim: Claim): CommitState {
  switch (outcome.status) {
    case 'committed':
      return { status: 'landed' }
    case 'guard-failed': {
      const landed = outcome.item?.['token'] === claim.token && outcome.item['status'] === 'done'
      return { status: landed ? 'landed' : 'undecided' }
    }
    case 'condition-failed':
    case 'conflict':
      return { status: 'open' }
    case 'duplicate':
    case 'busy':
    case 'unavailable':
    case 'unknown':
      return { status: 'undecided' }
  }
}

/** What the handler gets. Codes of this package, so that it can tell its own condition from all else. */
function commitError(outcome: CommitOutcome): OutboxError {
  switch (outcome.status) {
    case 'condition-failed': {
      const { index, item, cause } = outcome
      const details = item === undefined ? { index } : { index, item }
      return new OutboxError(
        'CONDITION_FAILED',
        `The condition of items[${index}] did not hold. Nothing was written.`,
        {
          details,
          cause,
        },
      )
    }
    case 'conflict':
      return new OutboxError('EVENT_CONFLICT', 'A follow-up event is stored with other content. Nothing was written.')
    case 'guard-failed':
      return new OutboxError('CLAIM_LOST', 'Another worker has taken over this event. Nothing was written.')
    case 'busy':
    case 'unavailable': {
      const code = outcome.status === 'busy' ? 'TRANSACTION_BUSY' : 'UNAVAILABLE'
      const message = `The commit was refused for now (${outcome.reason}). Nothing was written; the event comes back.`
      return new OutboxError(code, message, { details: { reason: outcome.reason }, cause: outcome.cause })
    }
    case 'unknown':
      return new OutboxError(
        'OUTCOME_UNKNOWN',
        'No answer to the commit. The event comes back unless it was applied.',
        {
          cause: outcome.cause,
        },
      )
    default:
      return new OutboxError('OUTCOME_UNKNOWN', 'The commit ended in a way that cannot be. The event comes back.')
  }
}

function misuse(rule: string): Promise<never> {
  const refused = Promise.reject(new OutboxError('INVALID_USE', `${rule}.`))
  // A handler that does not await it must not end the process.
  refused.catch(() => {})
  return refused
}
