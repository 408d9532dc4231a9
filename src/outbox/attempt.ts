import { OutboxError } from '../errors.ts'
import { eventId, type Identity } from '../event/identity.ts'
import type { AttributeItem } from './attribute-form.ts'
import { marshalAction } from './attribute-form.ts'
import { buildRow, putRow, type Stamp } from './build-row.ts'
import { checkTransaction } from './check-transaction.ts'
import type { AttributeWrite, ClientWrite, TransactionInput } from './client-write.ts'
import type { CommitRequest, EnqueuedEvent } from './commit.ts'
import type { Draft, DraftedEvents } from './draft-events.ts'
import type { OwnAction } from './own-action.ts'
import type { OutboxRow } from './row.ts'
import type { Session } from './session.ts'

/** One call, checked; nothing of it changes from try to try. */
export type Call = {
  readonly request: CommitRequest
  readonly events: DraftedEvents
  readonly stamp: Stamp
  readonly tableName: string
}

/** One event of an attempt. `skipped`: stored already by another call, so not sent with this attempt. */
export type Entry = {
  readonly draft: Draft
  readonly identity: Identity
  readonly row: OutboxRow
  /** The write of the row, as it is and in DynamoDB's own form: measured in this form, and sent in the client's. */
  readonly put: OwnAction
  readonly marshalled: AttributeWrite
  readonly skipped: boolean
}

/** The actions of one or more requests under one token. Other actions make another attempt. */
export type Attempt = {
  readonly token: string
  /** One per draft, in order. */
  readonly entries: readonly Entry[]
}

/** `skipped`: indexes of drafts that another call has stored. */
export function planAttempt(call: Call, identities: readonly Identity[], plan: Plan): Attempt {
  const entries = call.events.drafts.flatMap((draft, n) => {
    const identity = identities[n]
    if (identity === undefined) return []
    const row = buildRow(draft, identity, call.stamp)
    const put = putRow(call.tableName, row)
    return [{ draft, identity, row, put, marshalled: marshalAction(put), skipped: plan.skipped.has(n) }]
  })
  return { token: plan.token, entries }
}

export type Plan = { readonly token: string; readonly skipped: ReadonlySet<number> }

/** The entries whose rows are sent, in the order of their actions. */
export function sentEntries({ entries }: Attempt): Entry[] {
  return entries.filter(({ skipped }) => !skipped)
}

/** The request of an attempt: the caller's writes, then the guards, then the rows. Undefined if nothing is left to do. */
export function transactionInput(call: Call, attempt: Attempt, session: Session): TransactionInput | undefined {
  const { writes, guards = [] } = call.request
  const rows = sentEntries(attempt).map(({ put, marshalled }): ClientWrite => {
    return session.kind === 'client' ? marshalled : session.fromOwn(put)
  })
  const items: ClientWrite[] = [...writes, ...guards.map(session.fromOwn), ...rows]
  if (items.length === 0) return undefined
  return { TransactItems: items, ClientRequestToken: attempt.token } as TransactionInput
}

/** Refuses an attempt that breaks a limit of DynamoDB (`INVALID_TRANSACTION`). */
export function checkAttempt(call: Call, attempt: Attempt, session: Session): void {
  const { writes, guards = [] } = call.request
  checkTransaction({
    writes: writes.map((write, n) => marshalWrite(session, write, n)),
    guards: guards.map(marshalAction),
    rows: sentEntries(attempt).map(({ marshalled }): AttributeItem => marshalled.Put?.Item ?? {}),
    tableName: call.tableName,
  })
}

/** What became of the events, one for each that the caller gave, once the attempt is committed. */
export function committedEvents({ events }: Call, { entries }: Attempt): EnqueuedEvent[] {
  return events.places.map(({ draft, twin }) => enqueued(entries[draft], !twin))
}

/** The same where an earlier call did the work. The numbers it gave to `auto` events are not known. */
export function duplicateEvents({ events }: Call, { entries }: Attempt): EnqueuedEvent[] {
  return events.places.map(({ draft }) => {
    const entry = entries[draft]
    return entry?.draft.identity === undefined ? { inserted: false } : enqueued(entry, false)
  })
}

function enqueued(entry: Entry | undefined, first: boolean): EnqueuedEvent {
  if (entry === undefined) return { inserted: false }
  const { identity, skipped } = entry
  const inserted = first && !skipped
  const id = eventId(identity)
  return 'group' in identity ? { id, inserted, sequence: identity.sequence } : { id, inserted }
}

function marshalWrite(session: Session, write: ClientWrite, n: number): AttributeWrite {
  try {
    return session.toAttributes(write)
  } catch (cause) {
    const message = `Not sent: writes[${n}] cannot be marshalled under the options of the document client. The cause says why.`
    throw new OutboxError('INVALID_TRANSACTION', message, { details: { path: `writes[${n}]` }, cause })
  }
}
