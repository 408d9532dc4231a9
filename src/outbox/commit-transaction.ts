import { isOutboxError } from '../errors.ts'
import { afterFailure, prove } from './after-failure.ts'
import {
  type Attempt,
  type Call,
  checkAttempt,
  committedEvents,
  type Plan,
  planAttempt,
  transactionInput,
} from './attempt.ts'
import { classifyError } from './classify-error.ts'
import type { CommitOutcome, CommitRequest } from './commit.ts'
import { type CommitDeps, openCall } from './open-call.ts'
import { createPacer } from './pace.ts'
import { identifyEvents } from './read-rows.ts'
import type { Session } from './session.ts'
import type { Failed, State, Step } from './step.ts'

/**
 * Commits one transaction. A conflict, a throttle or no answer: the same request under the same token. Other actions
 * (duplicates left out, new numbers) only after a cancellation that showed another call's row at a key of ours, which
 * keeps the earlier request from ever being applied, even if it is still on its way; and under a new token.
 */
export async function commitTransaction(deps: CommitDeps, request: CommitRequest): Promise<CommitOutcome> {
  const call = await openCall(deps, request)
  if (call === undefined) return { status: 'conflict' }
  const pause = createPacer(deps.clock, request.deadline)
  let planned = await planNext(deps, call, { token: request.token ?? deps.clock.id(), skipped: new Set() })
  if (planned.attempt !== undefined) checkAttempt(call, planned.attempt, deps.session)
  let maybeApplied = false
  while (planned.attempt !== undefined) {
    const state: State = { attempt: planned.attempt, maybeApplied }
    const step = await sendOnce(deps, call, state)
    if (step.done !== undefined) return step.done
    maybeApplied = step.maybeApplied
    if (!(await pause(step.pace)))
      return giveUp(deps.session, { ...state, call, maybeApplied, error: step.cause }, step.reason)
    if (step.skipped !== undefined)
      planned = await planNext(deps, call, { token: deps.clock.id(), skipped: step.skipped })
  }
  return planned.done
}

type Planned =
  | { readonly attempt: Attempt; readonly done?: never }
  | { readonly attempt?: never; readonly done: CommitOutcome }

/**
 * Reads the next numbers if there are `auto` events. It happens before anything was sent or after a definite
 * cancellation, so a read that fails leaves nothing written.
 */
async function planNext(deps: CommitDeps, call: Call, plan: Plan): Promise<Planned> {
  try {
    return { attempt: planAttempt(call, await identifyEvents(deps, call), plan) }
  } catch (error) {
    if (isOutboxError(error)) throw error
    const { kind, name } = classifyError(error, 0)
    return { done: { status: kind === 'busy' ? 'busy' : 'unavailable', reason: name, cause: error } }
  }
}

async function sendOnce(deps: CommitDeps, call: Call, state: State): Promise<Step> {
  const input = transactionInput(call, state.attempt, deps.session)
  const events = committedEvents(call, state.attempt)
  if (input === undefined) return { done: { status: events.length === 0 ? 'committed' : 'duplicate', events } }
  const send = call.request.send ?? deps.session.send
  try {
    await send(input)
    return { done: { status: 'committed', events } }
  } catch (error) {
    return afterFailure(deps.session, { call, ...state, error })
  }
}

async function giveUp(session: Session, failed: Failed, reason: string): Promise<CommitOutcome> {
  return failed.maybeApplied ? prove(session, failed) : { status: 'busy', reason, cause: failed.error }
}
