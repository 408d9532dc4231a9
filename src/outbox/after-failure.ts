import { OutboxError } from '../errors.ts'
import { committedEvents, duplicateEvents, sentEntries } from './attempt.ts'
import { plainItem } from './attribute-form.ts'
import { classifyError, type SendFailure } from './classify-error.ts'
import type { CommitOutcome } from './commit.ts'
import { type Cancellation, type Decision, decideCancellation } from './decide-cancellation.ts'
import { judgeEntry, readStandings } from './read-rows.ts'
import type { Session } from './session.ts'
import type { Failed, Step } from './step.ts'

const FAILED = 'ConditionalCheckFailed'

/** What follows from a request that was not answered with success. Throws for what no retry can mend. */
export async function afterFailure(session: Session, given: Failed): Promise<Step> {
  const failure = classifyError(given.error, actionCount(given))
  const failed = { ...given, maybeApplied: given.maybeApplied || failure.sentBefore }
  const { error: cause, maybeApplied } = failed
  const { kind, name: reason } = failure
  switch (kind) {
    case 'cancelled':
      return afterCancellation(session, failed, failure)
    case 'mismatch':
      return { done: await afterMismatch(session, failed) }
    case 'invalid':
      throw invalid(reason, cause)
    case 'unavailable':
      return { done: maybeApplied ? await prove(session, failed) : { status: 'unavailable', reason, cause } }
    case 'busy':
      return { pace: 'busy', reason, cause, maybeApplied }
    case 'in-progress':
    case 'unanswered':
      return { pace: 'unanswered', reason, cause, maybeApplied: true }
  }
}

/**
 * Looks for a row of this call, once no try has been answered. One found proves that it was applied; another call's row
 * at a key of ours proves that it was not; nothing found, or no answer, proves nothing.
 */
export async function prove(session: Session, failed: Failed): Promise<CommitOutcome> {
  const { error: cause } = failed
  const decision = await lookAtRows(session, failed)
  switch (decision?.kind) {
    case 'committed':
    case 'duplicate':
    case 'conflict':
      return outcomeOf(decision.kind, failed)
    case 'change':
      return { status: 'busy', reason: classifyError(cause, 0).name, cause }
    default:
      return { status: 'unknown', cause }
  }
}

/**
 * The token is known with other content: an earlier call with the caller's own token, or a `send` that changes its input.
 * This request was not applied. Keyed events that are stored with equal content say that the earlier call did the work.
 */
async function afterMismatch(session: Session, failed: Failed): Promise<CommitOutcome> {
  const { call, error: cause, maybeApplied } = failed
  const asIfCancelling = { ...call, request: { ...call.request, onExisting: 'cancel' } as const }
  const decision = await lookAtRows(session, { ...failed, call: asIfCancelling })
  const kind = decision?.kind
  if (kind === 'committed' || kind === 'duplicate' || kind === 'conflict') return outcomeOf(kind, failed)
  if (maybeApplied || decision === undefined) return { status: 'unknown', cause }
  const message =
    'The token was used for another transaction within ten minutes, so nothing was written now. Give each call its own token, or none.'
  throw new OutboxError('INVALID_USE', message, { cause })
}

/** What the rows themselves say. Undefined if they cannot be read. */
async function lookAtRows(session: Session, failed: Failed): Promise<Decision | undefined> {
  const { writes, guards, rows, onExisting } = describe(failed, undefined)
  try {
    const standings = await readStandings(session, failed.call, failed.attempt)
    const seen = rows.map(({ auto }, n) => {
      const standing = standings[n] ?? 'absent'
      return { auto, standing, code: standing === 'absent' ? 'None' : FAILED }
    })
    return decideCancellation({ writes, guards, rows: seen, onExisting })
  } catch {
    return undefined
  }
}

async function afterCancellation(session: Session, failed: Failed, failure: SendFailure): Promise<Step> {
  const cancellation = describe(failed, failure)
  const decision = decideCancellation(cancellation)
  if (decision.kind !== 'look') return follow(session, failed, { decision, failure })
  try {
    const standings = await readStandings(session, failed.call, failed.attempt)
    const rows = cancellation.rows.map((row, n) => ({ ...row, standing: standings[n] ?? 'absent' }))
    return follow(session, failed, { decision: decideCancellation({ ...cancellation, rows }), failure })
  } catch (error) {
    if (failed.maybeApplied) return { done: { status: 'unknown', cause: failed.error } }
    return { done: { status: 'unavailable', reason: classifyError(error, 0).name, cause: error } }
  }
}

/** The cancellation as data. Reasons that cannot be read count as: every row must be looked at. */
function describe({ call, attempt }: Failed, failure: SendFailure | undefined): Cancellation {
  const { writes, guards = [], onExisting } = call.request
  const reasons = failure?.reasons
  const codeAt = (n: number) => reasons?.[n]?.code ?? 'None'
  const firstRow = writes.length + guards.length
  return {
    writes: writes.map((_, n) => codeAt(n)),
    guards: guards.map((_, n) => codeAt(writes.length + n)),
    rows: sentEntries(attempt).map((entry, n) => {
      const { code = FAILED, item } = reasons?.[firstRow + n] ?? {}
      const auto = entry.draft.identity === undefined
      return item === undefined ? { code, auto } : { code, auto, standing: judgeEntry(call, entry, item) }
    }),
    onExisting,
  }
}

function follow(
  session: Session,
  failed: Failed,
  found: { readonly decision: Decision; readonly failure: SendFailure },
): Step {
  const { call, error: cause, maybeApplied } = failed
  const { decision, failure } = found
  switch (decision.kind) {
    case 'committed':
    case 'duplicate':
    case 'conflict':
      return { done: outcomeOf(decision.kind, failed) }
    case 'guard-failed': {
      const item = failure.reasons?.[call.request.writes.length + decision.index]?.item
      return { done: { status: 'guard-failed', index: decision.index, ...(item && { item: plainItem(item) }) } }
    }
    case 'condition-failed': {
      const item = failure.reasons?.[decision.index]?.item
      const shown = item === undefined ? {} : { item: session.toClientForm(item) }
      return { done: { status: 'condition-failed', index: decision.index, cause, ...shown } }
    }
    case 'invalid':
      throw invalid(decision.code, cause, decision.index)
    case 'change':
      return { pace: 'busy', reason: FAILED, cause, maybeApplied: false, skipped: skippedWith(failed, decision.drop) }
    default:
      return { pace: 'busy', reason: decision.kind === 'again' ? decision.code : failure.name, cause, maybeApplied }
  }
}

function outcomeOf(kind: 'committed' | 'duplicate' | 'conflict', { call, attempt }: Failed): CommitOutcome {
  if (kind === 'conflict') return { status: 'conflict' }
  return {
    status: kind,
    events: kind === 'committed' ? committedEvents(call, attempt) : duplicateEvents(call, attempt),
  }
}

/** Indexes of the drafts to leave out: those left out so far, and these of the rows sent. */
function skippedWith({ attempt: { entries } }: Failed, drop: readonly number[]): ReadonlySet<number> {
  const sent = [...entries.keys()].filter((n) => entries[n]?.skipped === false)
  const dropped = new Set(drop.map((n) => sent[n]))
  return new Set([...entries.keys()].filter((n) => entries[n]?.skipped === true || dropped.has(n)))
}

function actionCount({ call, attempt }: Failed): number {
  const { writes, guards = [] } = call.request
  return writes.length + guards.length + sentEntries(attempt).length
}

function invalid(reason: string, cause: unknown, index?: number): OutboxError {
  const where = index === undefined ? 'The transaction' : `Action ${index} of the transaction`
  const details = index === undefined ? { reason } : { reason, index }
  return new OutboxError(
    'INVALID_TRANSACTION',
    `${where} was refused by DynamoDB (${reason}); nothing was written. The cause says why.`,
    {
      details,
      cause,
    },
  )
}
