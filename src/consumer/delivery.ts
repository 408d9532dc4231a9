import { DEFAULT_BACKOFF, retryBackoff } from '../backoff.ts'
import type { Exhausted } from '../ledger/decide-claim.ts'
import type { ConsumerQueue } from './consumer-queue.ts'
import { deadLetterCopy } from './dead-letter-copy.ts'
import type { Invocation } from './invocation.ts'
import { type Job, planJobs, type Registry } from './job.ts'
import type { Message } from './message.ts'
import type { RunDependencies } from './run.ts'
import { runHandler } from './run-handler.ts'
import { notWritten } from './settle-run.ts'

export type DeliveryDependencies = RunDependencies & { readonly queue: ConsumerQueue; readonly registry: Registry }

export type Delivery = {
  readonly message: Message
  readonly invocation: Invocation
  /** Whether all else of the batch is settled and nothing else runs. */
  readonly alone: boolean
}

export type DeliveryOutcome =
  /** Every handler is done, dead or not concerned: the message may be deleted. */
  | { readonly status: 'settled' }
  /** Keep it in the queue, invisible until `due` (ms since 1970): the earliest of its unfinished handlers. */
  | { readonly status: 'unsettled'; readonly due: number }
  /** Deliver it again once its turn alone has come; those with the fewest crashes first. */
  | { readonly status: 'wait-alone'; readonly crashes: number }

/** Runs the handlers of one message, one after the other. One that fails does not keep the others from running. */
export async function deliver(dependencies: DeliveryDependencies, delivery: Delivery): Promise<DeliveryOutcome> {
  const outcomes: DeliveryOutcome[] = []
  for (const job of planJobs(delivery.message, dependencies.registry)) {
    outcomes.push(await runJob(dependencies, delivery, job))
  }
  return combine(outcomes)
}

/** The message as a whole: settled only if all of it is; its turn alone comes before any other wait. */
export function combine(outcomes: readonly DeliveryOutcome[]): DeliveryOutcome {
  const crashes = outcomes.flatMap((outcome) => (outcome.status === 'wait-alone' ? [outcome.crashes] : []))
  if (crashes.length > 0) return { status: 'wait-alone', crashes: Math.max(...crashes) }
  const dues = outcomes.flatMap((outcome) => (outcome.status === 'unsettled' ? [outcome.due] : []))
  return dues.length > 0 ? { status: 'unsettled', due: Math.min(...dues) } : { status: 'settled' }
}

async function runJob(dependencies: DeliveryDependencies, delivery: Delivery, job: Job): Promise<DeliveryOutcome> {
  const { message, invocation, alone } = delivery
  if (!invocation.hasTime(alone)) return { status: 'unsettled', due: dependencies.clock.now() }
  const { id, life, receiveCount, note } = message
  const { lease, deadline, signal } = invocation
  const redriven = note !== undefined
  const run = { job, id, life, receiveCount, redriven, lease, deadline, signal, alone }
  const outcome = await invocation.measure(() => runHandler(dependencies, run))
  return outcome.status === 'exhausted' ? deadLetter(dependencies, message, outcome.exhausted) : outcome
}

/**
 * Copy, mark dead, acknowledge. Dying between any two is safe: the row at its limit runs nothing more, and the next
 * delivery takes up here.
 *
 *     failed at the limit ── copy (id of event, handler, life) ──▶ DLQ ── mark where token, status ──▶ dead ──▶ acknowledge
 *                 ▲ dies here: copied again under the same id    ▲ same          dies here: "dead" is acknowledged ▲
 */
async function deadLetter(
  dependencies: DeliveryDependencies,
  message: Message,
  exhausted: Exhausted,
): Promise<DeliveryOutcome> {
  const { queue, ledger, clock, logger, telemetry } = dependencies
  const { id: eventId, name: handler, attempts } = exhausted
  const sent = await queue.deadLetter(deadLetterCopy(message, exhausted))
  if (sent.status === 'failed') {
    telemetry.count('deferred')
    logger.warn('dead-letter queue refused a copy', { eventId, handler, reason: sent.reason })
    return { status: 'unsettled', due: clock.now() + retryBackoff(message.receiveCount, DEFAULT_BACKOFF) * 1000 }
  }
  telemetry.count('deadLettered')
  logger.error('event dead-lettered', { eventId, handler, attempts })
  const buried = await ledger.bury(exhausted)
  return buried.status === 'settled' ? buried : notWritten(dependencies, exhausted, buried)
}
