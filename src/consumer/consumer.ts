import { checkShortName } from '../checks.ts'
import { type Clock, systemClock } from '../clock.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Committer } from '../outbox/commit.ts'
import { checkOptions, checkRecords, inRange, invalidSetting, RANGES } from '../settings.ts'
import { type Logger, type Telemetry, unfailing } from '../telemetry.ts'
import { runBatch } from './batch.ts'
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
  const { name, ledger, queue, outbox, handlers, ignore, leaseSeconds } = options
  checkShortName('name', name)
  if (typeof ledger?.claim !== 'function') throw invalidSetting('ledger', 'must be made by createLedger')
  if (typeof queue?.deadLetter !== 'function') throw invalidSetting('queue', 'must be made by createSqsQueue')
  if (!Array.isArray(handlers) || handlers.length === 0)
    throw invalidSetting('handlers', 'must hold at least one handler, as an array')
  const alien = handlers.findIndex((handler) => typeof handler?.run !== 'function')
  if (alien !== -1) throw invalidSetting(`handlers[${alien}]`, 'must be made by on')
  if (ignore !== undefined && !Array.isArray(ignore)) throw invalidSetting('ignore', 'must be an array of types')
  const names = handlers.map(({ type, name: handler }) => `${handler} ${type}`)
  const twice = names.findIndex((text, n) => names.indexOf(text) !== n)
  if (twice !== -1) throw invalidSetting(`handlers[${twice}]`, 'has the name and the type of an earlier one; rename it')
  if (outbox !== undefined && outbox.kind !== ledger.kind) {
    throw invalidSetting(
      'outbox',
      `must use the kind of client that the ledger has: got ${outbox.kind} and ${ledger.kind}`,
    )
  }
  return leaseSeconds === undefined ? undefined : inRange('leaseSeconds', leaseSeconds, RANGES.leaseSeconds)
}
