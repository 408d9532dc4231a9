import { errorName } from '../errors.ts'

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

type AwsError = {
  readonly message?: unknown
  readonly cause?: unknown
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number }
  readonly $retryable?: { readonly throttling?: boolean }
  readonly CancellationReasons?: readonly { readonly Code?: string; readonly Item?: Record<string, unknown> }[]
}

const KINDS: Readonly<Record<string, SendFailure['kind']>> = {
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
}

/** Classifies an error by name, of whichever copy of the SDK; `count` is the number of actions that were sent. */
export function classifyError(error: unknown, count: number): SendFailure {
  const known = findKnown(error)
  const name = errorName(known)
  const { $metadata } = known
  const kind = kindOf(known, name)
  const sentBefore = ($metadata?.attempts ?? 1) > 1
  if (kind !== 'cancelled') return { kind, name, sentBefore }
  const reasons = readReasons(known, count)
  return { kind, name, sentBefore, ...(reasons === undefined ? {} : { reasons }) }
}

function kindOf({ $metadata, $retryable }: AwsError, name: string): SendFailure['kind'] {
  const named = KINDS[name]
  if (named !== undefined) return named
  if ($retryable?.throttling === true) return 'busy'
  const status = $metadata?.httpStatusCode
  return status !== undefined && status >= 400 && status < 500 ? 'unavailable' : 'unanswered'
}

/** A framework that owns the call may wrap the error: the first one in the chain of causes that says something. */
function findKnown(error: unknown): AwsError {
  let current = error
  for (let depth = 0; depth < 5 && typeof current === 'object' && current !== null; depth++) {
    const candidate = current as AwsError
    if (errorName(current) in KINDS || candidate.$metadata?.httpStatusCode !== undefined) return candidate
    current = candidate.cause
  }
  return typeof error === 'object' && error !== null ? (error as AwsError) : {}
}

/** Reasons as the SDK gives them, else the codes from the message, `… reasons [None, ConditionalCheckFailed]`. */
function readReasons({ CancellationReasons, message }: AwsError, count: number): CancellationReason[] | undefined {
  if (CancellationReasons?.length === count) {
    return CancellationReasons.map(({ Code, Item }) => ({
      code: Code ?? 'None',
      ...(Item === undefined ? {} : { item: Item }),
    }))
  }
  const codes = typeof message === 'string' ? /\[([\w, ]+)\]/.exec(message)?.[1]?.split(', ') : undefined
  return codes?.length === count ? codes.map((code) => ({ code })) : undefined
}
