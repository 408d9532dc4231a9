/** Who sends a request. Faults are planned by role, so that they stay where they are when other steps go. */
export type Role = 'writer' | 'relay' | 'sweeper' | 'consumer' | 'operator'

/**
 * What may befall one request. The service is never made to do what it cannot: a write that was applied stays applied, and
 * nothing is called a success that was none.
 */
export type FaultKind =
  /** Never arrives; the caller gets no answer. */
  | 'dropped'
  /** Applied; the caller gets no answer. */
  | 'lost'
  /** Applied; from then on the process reaches nothing for a while. */
  | 'cut-off'
  /** The SDK sends it twice: the first answer is lost, the second try is throttled, denied or answered. */
  | 'retried'
  | 'throttled'
  | 'denied'
  /** An answer that says different things of the parts of a batch, or leaves parts out. */
  | 'partial'
  /** Arrives late. */
  | 'slow'
  /** Its answer arrives late. */
  | 'slow-answer'
  /** The process dies before it is sent, after it was applied, or right after its answer. */
  | 'crash-before'
  | 'crash-after'
  | 'crash-answered'
  /** The process stands still for minutes, then goes on as if nothing had been. */
  | 'freeze'

export type Fault = {
  readonly role: Role
  /** Name of the SDK's command, or `any`. */
  readonly op: string
  /** Which of the role's calls of that command, from 0, and how many in a row. */
  readonly nth: number
  readonly times: number
  readonly kind: FaultKind
  /** For the slow ones, `cut-off` and `freeze`. */
  readonly seconds: number
}

/** A service or a queue that answers nothing useful for a while. Seconds from the start of its chapter. */
export type Outage = {
  /** `dynamo`, or the name of a queue. */
  readonly target: string
  readonly from: number
  readonly seconds: number
  readonly kind: 'dropped' | 'throttled' | 'denied'
}

/** An error as the AWS SDK throws it. */
export function awsError(name: string, members: object = {}, attempts = 1): Error {
  const httpStatusCode = name === 'InternalServerError' || name === 'ServiceUnavailable' ? 500 : 400
  return Object.assign(new Error(name), { name, $metadata: { httpStatusCode, attempts }, ...members })
}

/** No answer at all: no status, no code. */
export function noAnswer(attempts = 1): Error {
  return Object.assign(new Error('socket hang up'), { name: 'TimeoutError', $metadata: { attempts } })
}

/** DynamoDB and SQS have names of their own for the same refusals. */
export function refusal(kind: 'throttled' | 'denied', service: 'dynamo' | 'sqs', attempts = 1): Error {
  const dynamo = service === 'dynamo'
  if (kind === 'denied') return awsError(dynamo ? 'AccessDeniedException' : 'AccessDenied', {}, attempts)
  return awsError(dynamo ? 'ProvisionedThroughputExceededException' : 'RequestThrottled', {}, attempts)
}

/** Which planned fault the n-th call meets, if any. */
export function faultOf(
  faults: readonly Fault[],
  call: { readonly role: Role; readonly op: string; readonly nth: number; readonly nthOfAny: number },
): Fault | undefined {
  return faults.find(({ role, op, nth, times }) => {
    if (role !== call.role || (op !== 'any' && op !== call.op)) return false
    const n = op === 'any' ? call.nthOfAny : call.nth
    return n >= nth && n < nth + times
  })
}
