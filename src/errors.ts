/**
 * Every error this package throws. One class, told apart by `code` and never by `instanceof`: two copies of the
 * package in one process do no harm. A message says what was got, what is allowed and what to do next; it never
 * carries data, a source, a key or a group. Expected outcomes (duplicate, lost lease, refused entry) are return
 * values, not errors.
 */

/** What went wrong, by what the caller does about it. Stable: safe to branch on and to alarm on. */
export type ErrorCode =
  /** An event breaks a rule of grammar, form or data. Mend the event. Nothing was sent. */
  | 'INVALID_EVENT'
  /** An option or setting is unknown, missing or out of range. Mend the configuration. Nothing was sent. */
  | 'INVALID_SETTING'
  /** A transaction breaks a limit of DynamoDB (100 actions, 4 MB, 400 KB an item, one action an item). Nothing was sent. */
  | 'INVALID_TRANSACTION'
  /** The event's key is stored with other content, or a call mixes duplicates and new events. Nothing was written. */
  | 'EVENT_CONFLICT'
  /** A condition of the caller's own write did not hold. Nothing was written. */
  | 'CONDITION_FAILED'
  /** Conflict or throttling outlasted the bounded retries. Nothing was written; safe to call again. */
  | 'TRANSACTION_BUSY'
  /** Whether the transaction was applied could not be found out. Call again with the same keyed event, or read back. */
  | 'OUTCOME_UNKNOWN'
  /** A transaction object was used after its end, or a call was made where it is not allowed. Mend the code. */
  | 'INVALID_USE'
  /** A handler says that retrying cannot help. The event goes to the dead-letter queue at once. */
  | 'PERMANENT'
  /** A handler's claim was taken over by another worker, so its commit was refused. Nothing was written. */
  | 'CLAIM_LOST'
  /** An AWS call failed in a way that may pass: outage, throttling, permission, missing resource. */
  | 'UNAVAILABLE'
  /** What a test waits for did not come in time. The message says what is missing. */
  | 'TIMED_OUT'
  /** No embedded engine can run here. The message says what to install or set. */
  | 'ENGINE_MISSING'

/** The typed payload of an error. Numbers, codes and paths only: never data, a source, a key or a group. */
export type ErrorDetails = {
  /** Where the bad value is, for example `events[1].data.total` or `maxAttempts`. */
  readonly path?: string
  /** Index of the caller's own write that failed its condition. */
  readonly index?: number
  /** The item as it was when the caller's condition failed, if the write asked for it (`ALL_OLD`). In the client's own form. */
  readonly item?: unknown
  /** Name of the AWS error behind this one. */
  readonly reason?: string
}

/** The one error class. Recognise it with {@link isOutboxError}. */
export class OutboxError extends Error {
  readonly code: ErrorCode
  /** Whether the same call may succeed later without any change. */
  readonly retryable: boolean
  readonly details: ErrorDetails

  constructor(
    code: ErrorCode,
    message: string,
    options: { readonly details?: ErrorDetails; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'OutboxError'
    this.code = code
    this.retryable = RETRYABLE.has(code)
    this.details = options.details ?? {}
  }
}

const RETRYABLE: ReadonlySet<ErrorCode> = new Set(['TRANSACTION_BUSY', 'OUTCOME_UNKNOWN', 'UNAVAILABLE'])

/** True for an error of this package, of any copy of it; with `code`, for that kind only. Never throws. */
export function isOutboxError(error: unknown, code?: ErrorCode): error is OutboxError {
  return memberOf(error, 'name') === 'OutboxError' && (code === undefined || memberOf(error, 'code') === code)
}

/** A member of whatever was thrown: undefined if it has none, or one that cannot be read. */
export function memberOf(thrown: unknown, member: string): unknown {
  if (typeof thrown !== 'object' || thrown === null) return undefined
  try {
    return (thrown as Readonly<Record<string, unknown>>)[member]
  } catch {
    return undefined
  }
}

/**
 * Thrown by a handler to say that retrying cannot help: the event goes to the dead-letter queue at once.
 * The message becomes the stored reason (cut to 512 bytes): name no personal data in it.
 */
export function permanentError(message: string, cause?: unknown): OutboxError {
  return new OutboxError('PERMANENT', message, { cause })
}

/** What an error may be called: names are logged and stored, and other text may be anything. */
const NAME = /^[\w.:#$/-]{1,128}$/

/** Name of an error as AWS spells it (`TransactionCanceledException`), or `Error` for what has none. Never throws. */
export function errorName(error: unknown): string {
  const name = memberOf(error, 'name')
  return typeof name === 'string' && NAME.test(name) ? name : 'Error'
}
