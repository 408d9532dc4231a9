import type { Clock } from '../clock.ts'
import { OutboxError } from '../errors.ts'
import { checkOptions, invalidSetting } from '../settings.ts'
import type { Call } from './attempt.ts'
import type { DeliveryKind } from './build-row.ts'
import { checkForm, plainWrite } from './check-form.ts'
import type { CommitRequest } from './commit.ts'
import { draftEvents } from './draft-events.ts'
import type { Session } from './session.ts'

/** What a call needs from around it. Without `outbox` it takes no events. */
export type CommitDeps = {
  readonly session: Session
  readonly clock: Clock
  readonly outbox?: {
    readonly tableName: string
    readonly region?: string
    readonly delivery?: DeliveryKind
    /** The trace that the call belongs to, as a `traceparent` header of W3C Trace Context. */
    readonly traceparent?: () => string | undefined
  }
}

const OPTIONS = ['writes', 'guards', 'events', 'onExisting', 'token', 'deadline', 'send']

/**
 * Checks a request and fixes what all its tries share: `created`, `instance` and the text of its data. Undefined if two
 * of its events have one key and differ. Throws `INVALID_EVENT`, `INVALID_TRANSACTION`, `INVALID_SETTING` or `INVALID_USE`.
 */
export async function openCall(
  { session, clock, outbox }: CommitDeps,
  given: CommitRequest,
): Promise<Call | undefined> {
  checkRequest(given)
  const request = { ...given, writes: given.writes.map(plainWrite) }
  for (const [n, write] of request.writes.entries()) checkForm(write, n, session.kind)
  if (outbox === undefined && request.events.length > 0) {
    throw new OutboxError('INVALID_USE', 'Events need an outbox. Create one for this consumer with createOutbox.')
  }
  const created = clock.now()
  const events = await draftEvents(request.events, request.events.length > 0 ? currentTrace(outbox) : undefined)
  if (events === undefined) return undefined
  const region = request.events.length === 0 ? '' : (outbox?.region ?? (await clientRegion(session)))
  const instance = clock.id().replaceAll('-', '').slice(-INSTANCE_LENGTH)
  const stamp = { created, instance, region, ...(outbox?.delivery === undefined ? {} : { delivery: outbox.delivery }) }
  return { request, events, stamp, tableName: outbox?.tableName ?? '' }
}

/** 64 random bits: enough to tell the calls on one key apart, and short in each row. */
const INSTANCE_LENGTH = 16

function checkRequest(request: CommitRequest): void {
  checkOptions('transaction', request, OPTIONS)
  const { writes, events, onExisting, token, send } = request
  if (!Array.isArray(writes)) throw invalidSetting('writes', 'must be an array of actions')
  if (!Array.isArray(events)) throw invalidSetting('events', 'must be an array of events')
  if (onExisting !== 'cancel' && onExisting !== 'commit')
    throw invalidSetting('onExisting', 'must be "cancel" or "commit"')
  if (send !== undefined && typeof send !== 'function') throw invalidSetting('send', 'must be a function')
  if (token === undefined) return
  if (typeof token !== 'string' || !/^.{1,36}$/s.test(token))
    throw invalidSetting('token', 'must be text of 1–36 characters')
}

/** Tracing must never fail a write. */
function currentTrace(outbox: CommitDeps['outbox']): string | undefined {
  try {
    return outbox?.traceparent?.()
  } catch {
    return undefined
  }
}

async function clientRegion(session: Session): Promise<string> {
  try {
    const region = await session.region()
    if (typeof region === 'string' && region !== '') return region
  } catch {
    // The SDK found none either.
  }
  throw invalidSetting('region', 'is missing: set it on the client, or give it to createOutbox')
}
