import { DEFAULT_BACKOFF, retryBackoff } from '../backoff.ts'
import { sha256 } from '../event/identity.ts'
import type { Claim, ClaimOutcome } from '../ledger/ledger.ts'
import { type CommitContext, createCommitContext } from './commit-context.ts'
import { decideSettlement, type RunEnd } from './decide-settlement.ts'
import type { HandlerContext } from './handler-context.ts'
import type { Job } from './job.ts'
import type { Run, RunDependencies, RunOutcome } from './run.ts'
import { giveBackUnanswered, settle } from './settle-run.ts'

/**
 * Claims, runs and settles one handler. Never throws, and never answers while the handler is still running: there is no
 * way to stop it, and a successor must not run beside it.
 */
export async function runHandler(dependencies: RunDependencies, run: Run): Promise<RunOutcome> {
  const { id, life, lease, alone, job } = run
  const { name, maxAttempts, backoff } = job
  const claimed = await dependencies.ledger.claim({ id, name, life, lease, alone, maxAttempts, backoff })
  if (claimed.status === 'unavailable' && claimed.claim?.status === 'alone')
    await giveBackUnanswered(dependencies, run, claimed.claim)
  if (claimed.status !== 'claimed') return notClaimed(dependencies, run, claimed)
  if (claimed.takenOver !== undefined) dependencies.telemetry.count('takenOver')
  if (claimed.takenOver === 'crashed') dependencies.telemetry.count('crashed')
  const { claim } = claimed
  const { ledger, outbox } = dependencies
  // From here on the handler may have had effects: every way out writes what came of it.
  const commits = createCommitContext({
    claim,
    ledger,
    deadline: run.deadline,
    ...(outbox === undefined ? {} : { outbox }),
  })
  const end = await callHandler(job, createContext(dependencies, { run, claim, commits }))
  const { receiveCount } = run
  const now = dependencies.clock.now()
  const settlement = decideSettlement(end, await commits.settled(), { claim, job, receiveCount, now })
  return settle(dependencies, { run, claim, settlement, end })
}

/** A handler that throws at once and one that rejects are the same. No race with a timer: it is waited for. */
async function callHandler(job: Job, context: HandlerContext): Promise<RunEnd> {
  try {
    await job.run(context)
    return { threw: false }
  } catch (error) {
    return { threw: true, error }
  }
}

type ContextParts = { readonly run: Run; readonly claim: Claim; readonly commits: CommitContext }

/** The idempotency key leaves the life out: a replay must not double an effect that a provider has already seen. */
function createContext({ logger }: RunDependencies, { run, claim, commits }: ContextParts): HandlerContext {
  const { id, signal, redriven, job } = run
  const attempt = claim.attempts + 1
  const named = (fields: Record<string, unknown>) => ({ eventId: id, handler: job.name, attempt, ...fields })
  return {
    attempt,
    signal,
    redriven,
    idempotencyKey: sha256(`${id} ${job.name}`),
    commit: commits.commit,
    logger: {
      info: (message, fields) => logger.info(message, named(fields)),
      warn: (message, fields) => logger.warn(message, named(fields)),
      error: (message, fields) => logger.error(message, named(fields)),
    },
  }
}

/** Nothing ran. Only `exhausted` and `wait-alone` ask for more than to come back later, or not at all. */
function notClaimed(
  { telemetry, clock, logger }: RunDependencies,
  run: Run,
  outcome: Exclude<ClaimOutcome, { status: 'claimed' }>,
): RunOutcome {
  switch (outcome.status) {
    case 'done':
      telemetry.count('duplicatesSuppressed')
      return { status: 'settled', how: 'done' }
    case 'dead':
      telemetry.count('deadSuppressed')
      return { status: 'settled', how: 'dead' }
    case 'deferred':
      telemetry.count('deferred')
      return { status: 'unsettled', due: outcome.until }
    case 'wait-alone':
      return outcome
    case 'exhausted':
      if (outcome.exhausted.status === 'alone') telemetry.count('crashed')
      return outcome
    case 'unavailable':
      telemetry.count('ledgerUnavailable')
      logger.warn('ledger unavailable', { eventId: run.id, handler: run.job.name, reason: outcome.reason })
      return { status: 'unsettled', due: clock.now() + retryBackoff(run.receiveCount, DEFAULT_BACKOFF) * 1000 }
  }
}
