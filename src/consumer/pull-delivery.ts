import { errorName } from '../errors.ts'
import type { Exhausted } from '../ledger/decide-claim.ts'
import type { Puller } from '../outbox/create-puller.ts'
import type { PulledEvent } from '../outbox/pull-claim.ts'
import type { Invocation } from './invocation.ts'
import { type Job, planJobs, type Registry } from './job.ts'
import type { RunDependencies, RunOutcome } from './run.ts'
import { runHandler } from './run-handler.ts'

export type PullDependencies = RunDependencies & { readonly pull: Puller; readonly registry: Registry }

export type PullDelivery = {
  readonly claimed: PulledEvent
  readonly invocation: Invocation
  /** Whether nothing else of this worker runs beside it. */
  readonly alone: boolean
  /** How long a deferral waits: counts the outages in a row, from 1. */
  readonly round: number
}

/** How one handler of an event ended, or that there was no time for it. */
export type JobEnd = { readonly name: string; readonly outcome: RunOutcome }

/** What becomes of a claimed event as a whole. */
export type PullSettlement =
  | { readonly status: 'done' }
  /** Not before `due`, ms since 1970: the earliest of its unfinished handlers. */
  | { readonly status: 'later'; readonly due: number }
  /** Run it again once its turn alone has come; those with the fewest crashes first. */
  | { readonly status: 'wait-alone'; readonly crashes: number }
  /** No handler is left to run, and these have given up. */
  | { readonly status: 'dead'; readonly handlers: readonly string[]; readonly exhausted: readonly Exhausted[] }

/** Runs the handlers of one event, one after the other. Never throws, and never answers while a handler is running. */
export async function runPulled(dependencies: PullDependencies, delivery: PullDelivery): Promise<PullSettlement> {
  const { event, note } = delivery.claimed
  // A handler may change its event: what the row is answered with must not.
  const content = { ok: true, event: structuredClone(event) } as const
  const ends: JobEnd[] = []
  for (const job of planJobs(note === undefined ? { content } : { content, note }, dependencies.registry)) {
    ends.push({ name: job.name, outcome: await runJob(dependencies, delivery, job) })
  }
  return decidePulled(ends)
}

/**
 * The event as a whole. A handler that gave up waits, running nothing, until the others have ended too: the row is the one
 * carrier of all of them, and once dead it runs none.
 */
export function decidePulled(ends: readonly JobEnd[]): PullSettlement {
  const crashes = ends.flatMap(({ outcome }) => (outcome.status === 'wait-alone' ? [outcome.crashes] : []))
  if (crashes.length > 0) return { status: 'wait-alone', crashes: Math.max(...crashes) }
  const dues = ends.flatMap(({ outcome }) => (outcome.status === 'unsettled' ? [outcome.due] : []))
  if (dues.length > 0) return { status: 'later', due: Math.min(...dues) }
  const gaveUp = ends.filter(({ outcome }) => outcome.status === 'exhausted' || isDead(outcome))
  if (gaveUp.length === 0) return { status: 'done' }
  const exhausted = gaveUp.flatMap(({ outcome }) => (outcome.status === 'exhausted' ? [outcome.exhausted] : []))
  return { status: 'dead', handlers: gaveUp.map(({ name }) => name), exhausted }
}

function isDead(outcome: RunOutcome): boolean {
  return outcome.status === 'settled' && outcome.how === 'dead'
}

async function runJob(dependencies: PullDependencies, delivery: PullDelivery, job: Job): Promise<RunOutcome> {
  const { claimed, invocation, alone, round } = delivery
  if (!invocation.hasTime(alone)) return { status: 'unsettled', due: dependencies.clock.now() }
  const { event, note, lease } = claimed
  const { deadline, signal } = invocation
  const redriven = note !== undefined
  const run = {
    job,
    id: event.id,
    life: lifeOf(claimed),
    receiveCount: round,
    redriven,
    lease,
    deadline,
    signal,
    alone,
  }
  return invocation.measure(() => runHandler(dependencies, run))
}

/**
 * Writes into the row what the run has come to; `wait-alone` is the worker's affair. Never throws: a row that is not
 * answered for comes back when its lease ends, and the ledger knows what was done.
 */
export async function settlePulled(
  dependencies: PullDependencies,
  claimed: PulledEvent,
  settlement: Exclude<PullSettlement, { status: 'wait-alone' }>,
): Promise<void> {
  const { pull, telemetry, logger } = dependencies
  try {
    if (await answer(pull, claimed, settlement)) {
      if (settlement.status === 'dead') await buryHandlers(dependencies, claimed, settlement)
    } else telemetry.count('claimLost')
  } catch (error) {
    telemetry.count('markFailed')
    logger.warn('answer not stored', { eventId: claimed.event.id, reason: errorName(error) })
  }
}

function answer(
  pull: Puller,
  claimed: PulledEvent,
  settlement: Exclude<PullSettlement, { status: 'wait-alone' }>,
): Promise<boolean> {
  switch (settlement.status) {
    case 'done':
      return pull.acknowledge(claimed)
    case 'later':
      return pull.release(claimed, settlement.due)
    case 'dead': {
      const { handlers, exhausted } = settlement
      const life = Math.max(lifeOf(claimed), ...exhausted.map((one) => one.life)) + 1
      const [{ failure = 'the ledger has it as dead', attempts = 0 } = {}] = exhausted
      return pull.deadLetter(claimed, failure, { life, handlers, attempts })
    }
  }
}

/**
 * First the row, then the ledger: dying between the two leaves handlers at their limit, which run nothing, and the row's
 * note is a later life to them all the same.
 *
 *     at the limit ── row dead where our token, note: later life, handlers ──▶ dead ── ledger: dead where token, status
 *            ▲ dies before: the next claim comes here again                 ▲ dies here: a redrive starts them anew
 */
async function buryHandlers(
  { ledger, telemetry, logger }: PullDependencies,
  { event }: PulledEvent,
  { exhausted }: Extract<PullSettlement, { status: 'dead' }>,
): Promise<void> {
  for (const one of exhausted) {
    telemetry.count('deadLettered')
    logger.error('event dead-lettered', { eventId: event.id, handler: one.name, attempts: one.attempts })
    await ledger.bury(one)
  }
}

/** Which round of the event this is, ms since 1970. */
function lifeOf({ event, note }: PulledEvent): number {
  return Math.max(event.life, note?.life ?? 0)
}
