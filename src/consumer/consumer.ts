import { type Clock, systemClock } from '../clock.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Committer } from '../outbox/commit.ts'
import { checkOptions, checkRecords, inRange, invalidSetting, RANGES } from '../settings.ts'
import { type Logger, type Telemetry, unfailing } from '../telemetry.ts'
import { runBatch } from './batch.ts'
import { checkParts } from './check-parts.ts'
import type { ConsumerQueue } from './consumer-queue.ts'
import type { DeliveryDependencies } from './delivery.ts'
import type { Handler } from './handler.ts'
import { beginInvocation } from './invocation.ts'
import { readMessage } from './message.ts'
import type { BatchResponse, LambdaContext, SqsEvent } from './sqs-event.ts'
import { giveBack, holdMessages } from './visibility.ts'

export type ConsumerOptions = {
  /** 1–64 letters, digits, `.`, `_` and `-`. Permanent: renaming a consumer makes every event new to it. */
  readonly name: string
  readonly ledger: Ledger
  readonly queue: ConsumerQueue
  /** Needed for follow-up events in `ctx.commit`. In the ledger's account and Region, with the ledger's kind of client. */
  readonly outbox?: Committer
  /** Made by `on`; at least one. */
  readonly handlers: readonly Handler[]
  /** Types of this queue that need no handler. Any other type without one is dead-lettered. */
  readonly ignore?: readonly string[]
  /** Default: JSON lines on the console. */
  readonly logger?: Logger
  /** Default: none. */
  readonly telemetry?: Telemetry
  readonly clock?: Clock
  /** A longer lease than the time left of an invocation. 1–3600 seconds. Default: the time left and two seconds. */
  readonly leaseSeconds?: number
}

const OPTIONS: readonly (keyof ConsumerOptions)[] = [
  'name',
  'ledger',
  'queue',
  'outbox',
  'handlers',
  'ignore',
  'logger',
  'telemetry',
  'clock',
  'leaseSeconds',
]

/** A Lambda handler for an SQS mapping with `ReportBatchItemFailures`. */
export type Consumer = (event: SqsEvent, context: LambdaContext) => Promise<BatchResponse>

/**
 * Makes an SQS Lambda handler out of handlers. It answers with the messages to keep; Lambda deletes the others. It does
 * not throw, but for what is no event of SQS: an outage of queue or ledger keeps the messages, and spends nothing.
 */
export function createConsumer(options: ConsumerOptions): Consumer {
  const leaseSeconds = check(options)
  const { name, handlers, ignore = [] } = options
  const { ledger, queue, outbox, clock = systemClock } = options
  const dependencies: DeliveryDependencies = {
    ledger,
    queue,
    ...unfailing(options),
    clock,
    registry: { consumer: name, handlers, ignore: new Set(ignore) },
    ...(outbox === undefined ? {} : { outbox }),
  }

  return async (event, context) => {
    const Records = checkRecords('SQS', event?.Records)
    const invocation = beginInvocation({ clock, context, ...(leaseSeconds === undefined ? {} : { leaseSeconds }) })
    const messages = Records.map(readMessage)
    const lost = await holdMessages(queue, messages, invocation.lease - clock.now())
    const unsettled = await runBatch(dependencies, { messages, lost, invocation })
    await giveBack(queue, unsettled, clock.now())
    invocation.end()
    return { batchItemFailures: unsettled.map(({ message }) => ({ itemIdentifier: message.messageId })) }
  }
}

/** Refuses what would go wrong at the first message. Answers the fixed lease, if there is one. */
function check(options: ConsumerOptions): number | undefined {
  checkOptions('createConsumer', options, OPTIONS)
  const { queue, leaseSeconds } = options
  if (typeof queue?.deadLetter !== 'function') throw invalidSetting('queue', 'must be made by createSqsQueue')
  checkParts(options)
  return leaseSeconds === undefined ? undefined : inRange('leaseSeconds', leaseSeconds, RANGES.leaseSeconds)
}
