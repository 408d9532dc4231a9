import { DEFAULT_BACKOFF, jitter, retryBackoff } from '../backoff.ts'
import { errorName, isOutboxError } from '../errors.ts'
import type { Claim, SettleOutcome } from '../ledger/ledger.ts'
import type { RunEnd, Settlement } from './decide-settlement.ts'
import type { Run, RunDependencies, RunOutcome } from './run.ts'

type Ended = { readonly run: Run; readonly claim: Claim; readonly settlement: Settlement; readonly end: RunEnd }

/** Writes what a run has come to. Every write holds only while the claim is ours. */
export async function settle(dependencies: RunDependencies, ended: Ended): Promise<RunOutcome> {
  const { ledger, telemetry, logger } = dependencies
  const { claim, settlement, run, end } = ended
  const fields = { eventId: run.id, handler: run.job.name, attempt: claim.attempts + 1 }
  switch (settlement.action) {
    case 'none':
      // The transaction of the commit has marked it done: whatever the handler threw then, its effect stands.
      telemetry.count('handled')
      if (!settlement.threw) return { status: 'settled', how: 'handled' }
      telemetry.count('thrownAfterCommit')
      logger.warn('handler threw after its commit had landed', {
        ...fields,
        error: end.threw ? errorName(end.error) : '',
      })
      return { status: 'settled', how: 'handled' }
    case 'complete': {
      const outcome = await persist(dependencies, run, () => ledger.complete(claim))
      if (outcome.status !== 'settled') return notWritten(dependencies, claim, outcome)
      telemetry.count('handled')
      return { status: 'settled', how: 'handled' }
    }
    case 'release': {
      // Also settles a commit of unknown outcome: if it was applied the row is done, and if it is still on its way its
      // condition fails from now on.
      const outcome = await persist(dependencies, run, () => ledger.release(claim, settlement.due))
      if (outcome.status !== 'settled') return notWritten(dependencies, claim, outcome)
      telemetry.count('deferred')
      return { status: 'unsettled', due: settlement.due }
    }
    case 'fail': {
      const { failure } = settlement
      // Only its name: the text of a handler's own error may hold an event's data. The ledger keeps it.
      logger.warn('handler failed', { ...fields, error: end.threw ? kindOf(end.error) : 'commit refused' })
      const outcome = await persist(dependencies, run, () => ledger.fail(claim, failure))
      if (outcome.status !== 'settled') return notWritten(dependencies, claim, outcome)
      telemetry.count('failed')
      if (run.job.metric !== undefined) telemetry.count(run.job.metric)
      // Stored as failed first: whoever finds it at its limit runs nothing and goes on with the dead letter.
      if (failure.attempts < run.job.maxAttempts) return { status: 'unsettled', due: failure.due }
      const { attempts, reason } = failure
      return { status: 'exhausted', exhausted: { ...claim, status: 'failed', attempts, failure: reason } }
    }
  }
}

/**
 * A claim to run alone that was not answered, and so runs nothing. It may stand, and would count as a crash once it lapses:
 *
 *     us ── alone (token t) ──▶ applied, answer lost ── failed where t, alone ──▶ applied: given back, nothing spent
 *     us ── alone (token t) ──▶ never arrived ───────── failed where t, alone ──▶ refused: nothing to give back
 *
 * Only an outage that outlasts the invocation leaves it there: nobody can tell that from a crash.
 */
export async function giveBackUnanswered(dependencies: RunDependencies, run: Run, claim: Claim): Promise<void> {
  await persist(dependencies, run, () => dependencies.ledger.release(claim, dependencies.clock.now()))
}

/** A run has cost more than waiting does: while the ledger is out of reach, its end is written again and again, in time. */
async function persist(
  { clock }: RunDependencies,
  { deadline }: Run,
  write: () => Promise<SettleOutcome>,
): Promise<SettleOutcome> {
  for (let tries = 1; ; tries++) {
    const outcome = await write()
    const pause = jitter(tries, clock.random, { firstMs: 200, capMs: 5000 })
    if (outcome.status !== 'unavailable' || clock.now() + pause >= deadline) return outcome
    await clock.sleep(pause)
  }
}

/**
 * The row is no longer ours, or the ledger did not answer. A row that is done, by whomever, is done: that our own commit
 * landed though its answer was lost shows here too. All else waits for whoever holds it now.
 */
export function notWritten(
  { telemetry, clock }: Pick<RunDependencies, 'telemetry' | 'clock'>,
  claim: Pick<Claim, 'token'> & { readonly lease?: number },
  outcome: Exclude<SettleOutcome, { status: 'settled' }>,
): Extract<RunOutcome, { status: 'settled' | 'unsettled' }> {
  const soon = clock.now() + retryBackoff(1, DEFAULT_BACKOFF) * 1000
  if (outcome.status === 'unavailable') {
    telemetry.count('ledgerUnavailable')
    return { status: 'unsettled', due: Math.max(soon, claim.lease ?? 0) }
  }
  const { entry } = outcome
  if (entry?.status === 'done' && entry.token === claim.token) {
    telemetry.count('handled')
    return { status: 'settled', how: 'handled' }
  }
  telemetry.count('claimLost')
  if (entry?.status === 'done' || entry?.status === 'dead') return { status: 'settled', how: entry.status }
  const held = entry?.status === 'failed' ? entry.due : (entry?.lease ?? 0)
  return { status: 'unsettled', due: Math.max(soon, held) }
}

/** Our own errors by their code, others by their name. */
function kindOf(error: unknown): string {
  return isOutboxError(error) ? error.code : errorName(error)
}
