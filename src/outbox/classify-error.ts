import { errorName, memberOf } from '../errors.ts'

/** One action's part in a cancelled transaction. */
export type CancellationReason = { readonly code: string; readonly item?: Readonly<Record<string, unknown>> }

/** What an error of `TransactWriteItems` says about the transaction. */
export type SendFailure = {
  /**
   * `cancelled`: not applied, for these reasons (undefined if they cannot be read). `in-progress`: the same token is
   * running. `mismatch`: the token was used with other content. `busy`: throttled, not applied. `invalid`: refused for
   * what it is. `unavailable`: refused, may pass. `unanswered`: nobody knows.
   */
  readonly kind: 'cancelled' | 'in-progress' | 'mismatch' | 'busy' | 'invalid' | 'unavailable' | 'unanswered'
  readonly name: string
  readonly reasons?: readonly CancellationReason[]
  /** The SDK has sent it more than once: an earlier try may have been applied. */
  readonly sentBefore: boolean
}

const KINDS: ReadonlyMap<string, SendFailure['kind']> = new Map(
  Object.entries({
    TransactionCanceledException: 'cancelled',
    TransactionInProgressException: 'in-progress',
    IdempotentParameterMismatchException: 'mismatch',
    IdempotentParameterMismatch: 'mismatch',
    TransactionConflictException: 'busy',
    ThrottlingException: 'busy',
    ThrottledException: 'busy',
    ProvisionedThroughputExceededException: 'busy',
    RequestLimitExceeded: 'busy',
    TooManyRequestsException: 'busy',
    ValidationException: 'invalid',
    SerializationException: 'invalid',
    CredentialsProviderError: 'unavailable',
    RequestTimeout: 'unanswered',
    RequestTimeoutException: 'unanswered',
  } as const),
)

/** Classifies an error by name, of whichever copy of the SDK; `count` is the number of actions that were sent. Never throws. */
export function classifyError(error: unknown, count: number): SendFailure {
  const known = findKnown(error)
  const name = errorName(known)
  const kind = kindOf(known, name)
  const attempts = memberOf(memberOf(known, '$metadata'), 'attempts')
  const sentBefore = typeof attempts === 'number' && attempts > 1
  if (kind !== 'cancelled') return { kind, name, sentBefore }
  const reasons = readReasons(known, count)
  return { kind, name, sentBefore, ...(reasons === undefined ? {} : { reasons }) }
}

function kindOf(error: unknown, name: string): SendFailure['kind'] {
  const named = KINDS.get(name)
  if (named !== undefined) return named
  if (memberOf(memberOf(error, '$retryable'), 'throttling') === true) return 'busy'
  const status = statusOf(error)
  return status !== undefined && status >= 400 && status < 500 ? 'unavailable' : 'unanswered'
}

function statusOf(error: unknown): number | undefined {
  const status = memberOf(memberOf(error, '$metadata'), 'httpStatusCode')
  return typeof status === 'number' ? status : undefined
}

/** A framework that owns the call may wrap the error: the first one in the chain of causes that says something. */
function findKnown(error: unknown): unknown {
  let current = error
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    if (KINDS.has(errorName(current)) || statusOf(current) !== undefined) return current
    current = memberOf(current, 'cause')
  }
  return error
}

/** Reasons as the SDK gives them, else the codes from the message, `… reasons [None, ConditionalCheckFailed]`. */
function readReasons(error: unknown, count: number): CancellationReason[] | undefined {
  const given = memberOf(error, 'CancellationReasons')
  if (Array.isArray(given) && given.length === count) return given.map(readReason)
  const message = memberOf(error, 'message')
  const codes = typeof message === 'string' ? /\[([\w, ]+)\]/.exec(message)?.[1]?.split(', ') : undefined
  return codes?.length === count ? codes.map((code) => ({ code })) : undefined
}

function readReason(reason: unknown): CancellationReason {
  const code = memberOf(reason, 'Code')
  const item = memberOf(reason, 'Item')
  return {
    code: typeof code === 'string' ? code : 'None',
    ...(typeof item === 'object' && item !== null ? { item: { ...item } } : {}),
  }
}
