import type { Clock } from '../clock.ts'
import { type FilterPattern, matchesFilter } from './event-filter.ts'
import type { InvokeOutcome, LocalFunction } from './function.ts'
import type { SqsEvent, SqsMessageAttribute, SqsRecord } from './lambda-events.ts'
import type { LocalQueue } from './local-queue.ts'
import { judgeQueueResponse } from './queue-response.ts'
import type { StoredMessage } from './queue-state.ts'
import { LOCAL_REGION } from './records.ts'
import type { Source } from './source.ts'
import { systemAttributes } from './sqs-actions.ts'
import type { WireAttribute } from './sqs-rules.ts'
import { createWaker } from './waker.ts'

/** The settings of an event source mapping on a queue; defaults are Lambda's. */
export type QueueSettings = {
  /** 1–10. Default 10. */
  readonly batchSize?: number
  /** How long a batch gathers, ms of the clock. Standard queues only. Default 0. */
  readonly windowMs?: number
  /** Invocations at once. Default 5, with which Lambda starts. */
  readonly maxConcurrency?: number
  /** Read the answer as a partial batch response. Default false. */
  readonly reportBatchItemFailures?: boolean
  /** Patterns on the record with its body parsed as JSON; messages that match none are deleted. Default: all. */
  readonly filter?: FilterPattern | readonly FilterPattern[]
}

export type QueueSource = Source & { readonly function: LocalFunction<SqsEvent> }

export type QueueSourceDependencies = {
  readonly clock: Clock
  readonly queue: LocalQueue
  readonly function: LocalFunction<SqsEvent>
  readonly onActivity: () => void
}

const THROTTLE_RETRY_MS = 100

/**
 * Hands a queue's messages to a function as Lambda does. A batch may hold several groups, and several messages of one in
 * order; no group is in two batches at once. What succeeded is deleted in one call; what failed, or was in a batch that
 * threw or timed out, comes back when its visibility ends. A throttled batch is tried again until then, and has been
 * counted as received all the same.
 */
export function createQueueSource(settings: QueueSettings, deps: QueueSourceDependencies): QueueSource {
  const { clock, queue, function: target, onActivity } = deps
  const { batchSize = 10, windowMs = 0, maxConcurrency = 5, reportBatchItemFailures = false, filter = [] } = settings
  const patterns = (Array.isArray(filter) ? filter : [filter]) as readonly FilterPattern[]
  const stopped = new AbortController()
  const waker = createWaker(clock, stopped.signal)
  const unsubscribe = queue.onChange(waker.wake)
  const inFlight = new Set<Promise<void>>()

  const invoke = async (messages: readonly StoredMessage[], event: SqsEvent): Promise<InvokeOutcome> => {
    for (;;) {
      const outcome = await target.invoke(event)
      const deadline = Math.min(...messages.map(({ visibleAt }) => visibleAt))
      if (outcome.status !== 'throttled' || clock.now() + THROTTLE_RETRY_MS >= deadline || stopped.signal.aborted)
        return outcome
      await clock.sleep(THROTTLE_RETRY_MS, stopped.signal).catch(() => {})
    }
  }

  const run = async (messages: readonly StoredMessage[]): Promise<void> => {
    const event = { Records: messages.map((message) => toSqsRecord(message, queue.arn)) }
    // The handles of this receive: a message that comes back while the function runs gets another one.
    const handles = new Map(event.Records.map(({ messageId, receiptHandle }) => [messageId, receiptHandle]))
    const outcome = await invoke(messages, event)
    const response = outcome.status === 'ok' ? outcome.response : undefined
    const done =
      outcome.status === 'ok'
        ? judgeQueueResponse([...handles.keys()], reportBatchItemFailures ? response : undefined)
        : []
    for (const messageId of done) queue.delete(handles.get(messageId) ?? '')
  }

  const takeBatch = (): StoredMessage[] =>
    queue.receive(batchSize).filter((message) => {
      if (matchesFilter(filterView(message, queue.arn), patterns)) return true
      if (message.handle !== undefined) queue.delete(message.handle)
      return false
    })

  const loop = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      if (windowMs > 0 && queue.depth().visible > 0 && queue.depth().visible < batchSize)
        await clock.sleep(windowMs, stopped.signal).catch(() => {})
      const since = clock.now()
      for (let room = maxConcurrency - inFlight.size; room > 0; room -= 1) {
        const messages = takeBatch()
        if (messages.length === 0) break
        const running: Promise<void> = run(messages).finally(() => {
          inFlight.delete(running)
          onActivity()
          waker.wake()
        })
        inFlight.add(running)
      }
      await waker.wait(inFlight.size < maxConcurrency ? queue.nextVisibleAt(since) : undefined)
    }
  }
  const finished = loop()

  return {
    function: target,
    pending: () => {
      const { visible, invisible, delayed } = queue.depth()
      const left = visible + invisible + delayed
      const batches = inFlight.size === 0 ? [] : [`${inFlight.size} invocations of ${target.name}`]
      return left === 0
        ? batches
        : [...batches, `${left} messages in ${queue.name} (${invisible + delayed} of them hidden)`]
    },
    catchUp: async () => {},
    stop: async () => {
      stopped.abort(new Error('the source was stopped'))
      unsubscribe()
      waker.wake()
      await finished
      await target.stop()
      await Promise.all(inFlight)
    },
  }
}

function toSqsRecord(message: StoredMessage, arn: string): SqsRecord {
  const attributes = Object.entries(message.attributes).map(([name, value]) => [name, toAttribute(value)] as const)
  return {
    messageId: message.messageId,
    receiptHandle: message.handle ?? '',
    body: message.body,
    attributes: systemAttributes(message) as SqsRecord['attributes'],
    messageAttributes: Object.fromEntries(attributes),
    md5OfBody: message.md5OfBody,
    eventSource: 'aws:sqs',
    eventSourceARN: arn,
    awsRegion: LOCAL_REGION,
  }
}

function toAttribute({ DataType, StringValue, BinaryValue }: WireAttribute): SqsMessageAttribute {
  return {
    dataType: DataType,
    ...(StringValue === undefined ? {} : { stringValue: StringValue }),
    ...(BinaryValue === undefined ? {} : { binaryValue: BinaryValue }),
    stringListValues: [],
    binaryListValues: [],
  }
}

function filterView(message: StoredMessage, arn: string): object {
  const record = toSqsRecord(message, arn)
  try {
    return { ...record, body: JSON.parse(record.body) as unknown }
  } catch {
    return record
  }
}
