import type { Clock } from '../clock.ts'
import { errorName } from '../errors.ts'
import type { LambdaContext, LambdaHandler } from './lambda-events.ts'

/** One invocation, as the code that runs it sees it. */
export type Invocation<Event> = {
  readonly event: Event
  readonly functionName: string
  readonly requestId: string
  /** When Lambda ends it, the clock's ms since 1970. */
  readonly deadline: number
  /** Aborts at the deadline. */
  readonly ended: AbortSignal
}

/** Runs a handler once. */
export type Run<Event> = (invocation: Invocation<Event>) => Promise<unknown>

/** Something that can run a handler: in this process, or in one that can be killed. */
export type Runner<Event> = {
  /** Lambda's init: what it takes is not part of the invocation's time. */
  readonly prepare: () => Promise<Run<Event>>
  readonly stop: () => Promise<void>
}

export type InvokeOutcome =
  | { readonly status: 'ok'; readonly response: unknown }
  /** The handler threw, its process died, or its answer is not JSON. */
  | { readonly status: 'error'; readonly error: unknown }
  | { readonly status: 'timeout' }
  /** Nothing ran: no concurrency was left. */
  | { readonly status: 'throttled' }

export type FunctionOptions = {
  readonly name?: string
  /** Milliseconds of the clock. Default 30,000. */
  readonly timeoutMs?: number
  /** Invocations at once; more are throttled. Default 1000. */
  readonly concurrency?: number
}

export type LocalFunction<Event> = {
  readonly name: string
  readonly timeoutMs: number
  readonly invoke: (event: Event) => Promise<InvokeOutcome>
  readonly running: () => number
  /** How many invocations began, ended well, failed, timed out and were throttled. */
  readonly counts: () => Readonly<FunctionCounts>
  /** As reserved concurrency: 0 throttles every invocation. */
  readonly setConcurrency: (limit: number) => void
  readonly stop: () => Promise<void>
}

export type FunctionCounts = { invoked: number; ok: number; error: number; timeout: number; throttled: number }

type Dependencies<Event> = {
  readonly clock: Clock
  readonly runner: Runner<Event>
  readonly onError?: (name: string, error: unknown) => void
}

/**
 * A Lambda function: timeout, remaining time, concurrency limit. Event and answer pass through JSON, as between Lambda
 * and a function. Never rejects. A handler in this process that times out is not waited for any longer but cannot be
 * stopped: it runs on beside its successor; where that matters use a {@link processFunction}, which is killed.
 */
export function createFunction<Event>(
  options: FunctionOptions,
  { clock, runner, onError }: Dependencies<Event>,
): LocalFunction<Event> {
  const { name = 'function', timeoutMs = 30_000 } = options
  const counts: FunctionCounts = { invoked: 0, ok: 0, error: 0, timeout: 0, throttled: 0 }
  let limit = options.concurrency ?? 1000
  let running = 0

  const run = async (event: Event, start: Run<Event>): Promise<InvokeOutcome> => {
    const ended = new AbortController()
    const settled = new AbortController()
    const deadline = clock.now() + timeoutMs
    const invocation = {
      event: viaJson(event),
      functionName: name,
      requestId: clock.id(),
      deadline,
      ended: ended.signal,
    }
    const answer = start(invocation).then(
      (response): InvokeOutcome => ({ status: 'ok', response: response === undefined ? null : viaJson(response) }),
    )
    const timeout = clock.sleep(timeoutMs, settled.signal).then((): InvokeOutcome => ({ status: 'timeout' }))
    timeout.catch(() => {})
    try {
      return await Promise.race([
        answer.catch((error: unknown): InvokeOutcome => ({ status: 'error', error })),
        timeout,
      ])
    } finally {
      settled.abort(new Error('settled'))
      ended.abort(new Error('the invocation has ended'))
    }
  }

  return {
    name,
    timeoutMs,
    running: () => running,
    counts: () => ({ ...counts }),
    setConcurrency: (value) => {
      limit = value
    },
    stop: () => runner.stop(),
    invoke: async (event) => {
      if (running >= limit) {
        counts.throttled += 1
        return { status: 'throttled' }
      }
      running += 1
      counts.invoked += 1
      const outcome = await runner.prepare().then(
        (start) => run(event, start),
        (error: unknown): InvokeOutcome => ({ status: 'error', error }),
      )
      running -= 1
      counts[outcome.status] += 1
      if (outcome.status === 'error') onError?.(name, outcome.error)
      return outcome
    },
  }
}

/** Runs a handler in this process. */
export function inProcess<Event>(handler: LambdaHandler<Event>, clock: Clock): Runner<Event> {
  const run: Run<Event> = async ({ event, functionName, requestId, deadline }) => {
    const context: LambdaContext = {
      functionName,
      awsRequestId: requestId,
      getRemainingTimeInMillis: () => Math.max(0, deadline - clock.now()),
    }
    return await handler(event, context)
  }
  return { prepare: async () => run, stop: async () => {} }
}

/** One line about a failed invocation: name and message of the error, no data. */
export function describeFailure(outcome: InvokeOutcome): string {
  if (outcome.status !== 'error') return outcome.status
  const { error } = outcome
  const message =
    typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : String(error)
  return `${errorName(error)}: ${message}`
}

function viaJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value
}
