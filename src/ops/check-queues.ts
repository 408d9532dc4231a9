import type { ConsumerFacts, Finding, QueueFacts } from './deployment.ts'

/** SQS's most. */
const MAX_RETENTION_SECONDS = 1_209_600
const MAX_RECEIVES = 1000
/** Fewer receives than this are used up by a consumer that is throttled for a day. */
const FEW_RECEIVES = 100
const SHORTEST_VISIBILITY_SECONDS = 900
const DAY_SECONDS = 86_400
const LEDGER_DAYS = 30

/** Queue and dead-letter queue of a consumer, and what they have to do with its function and its ledger. */
export function checkQueues(consumer: ConsumerFacts): readonly Finding[] {
  const { queue, deadLetterQueue, queueUrl, deadLetterQueueUrl } = consumer
  if (queue === undefined) return [missing('queue', queueUrl, 'Events stay in the outbox table.')]
  if (deadLetterQueue === undefined)
    return [missing('dead-letter queue', deadLetterQueueUrl, 'Events that were given up block their group.')]
  return [
    ...checkKind(consumer.name, queue, deadLetterQueue),
    ...[queue, deadLetterQueue].flatMap(checkThroughput),
    ...checkVisibility(consumer, queue),
    ...checkRetention(queue, deadLetterQueue),
    ...checkRedrivePolicy(queue, deadLetterQueue),
    ...checkMemory(consumer, queue, deadLetterQueue),
  ]
}

function missing(what: string, url: string, effect: string): Finding {
  return {
    severity: 'error',
    resource: `${what} ${nameOf(url)}`,
    wrong: 'is not there',
    effect,
    property: what === 'queue' ? 'OutboxConsumer.queue' : 'OutboxConsumer.deadLetterQueue',
    command: 'deploy the stack again',
  }
}

function checkKind(consumer: string, queue: QueueFacts, dead: QueueFacts): readonly Finding[] {
  if (queue.fifo === dead.fifo) return []
  return [
    {
      severity: 'error',
      resource: `dead-letter queue ${nameOf(dead.url)}`,
      wrong: `is ${kindOf(dead)}, and the queue of ${consumer} is ${kindOf(queue)}`,
      effect: 'No dead letter can be written: events that were given up block their group.',
      property: 'OutboxConsumer.deadLetterQueue',
      command: 'a queue keeps its kind for life: leave out `deadLetterQueue`, so that one is created',
    },
  ]
}

function checkThroughput(queue: QueueFacts): readonly Finding[] {
  const { fifo, deduplicationScope, throughputLimit, url } = queue
  if (!fifo || (deduplicationScope === 'messageGroup' && throughputLimit === 'perMessageGroupId')) return []
  const attributes = { DeduplicationScope: 'messageGroup', FifoThroughputLimit: 'perMessageGroupId' }
  return [
    mend(url, {
      severity: 'warning',
      wrong: 'is not set to high throughput',
      effect: 'It takes 300 requests a second instead of thousands: a backlog drains slowly.',
      property: 'deduplicationScope and fifoThroughputLimit of the queue',
      attributes,
    }),
  ]
}

function checkVisibility({ handler }: ConsumerFacts, { url, visibilitySeconds }: QueueFacts): readonly Finding[] {
  const needed = Math.max(6 * (handler?.timeoutSeconds ?? 0), SHORTEST_VISIBILITY_SECONDS)
  if (visibilitySeconds >= needed) return []
  const tooShort = visibilitySeconds < (handler?.timeoutSeconds ?? 0)
  return [
    mend(url, {
      severity: tooShort ? 'error' : 'warning',
      wrong: `hides a message for ${visibilitySeconds} s; the function may take ${handler?.timeoutSeconds} s`,
      effect: tooShort
        ? 'Messages come again while they are handled.'
        : 'A function that cannot start uses up the receives of its messages sooner.',
      property: 'OutboxConsumer.visibilityTimeout',
      attributes: { VisibilityTimeout: String(needed) },
    }),
  ]
}

function checkRetention(queue: QueueFacts, dead: QueueFacts): readonly Finding[] {
  if (dead.retentionSeconds >= queue.retentionSeconds) return []
  return [
    mend(dead.url, {
      severity: 'error',
      wrong: `keeps messages for ${days(dead)} days, less than the ${days(queue)} days of its queue`,
      effect: 'Dead letters are deleted before anybody has redriven them.',
      property: 'retentionPeriod of the dead-letter queue',
      attributes: { MessageRetentionPeriod: String(MAX_RETENTION_SECONDS) },
    }),
  ]
}

function checkRedrivePolicy({ url, redrive }: QueueFacts, dead: QueueFacts): readonly Finding[] {
  if (redrive?.targetArn === dead.arn && redrive.maxReceiveCount >= FEW_RECEIVES) return []
  const policy = { deadLetterTargetArn: dead.arn, maxReceiveCount: MAX_RECEIVES }
  const wrong =
    redrive === undefined
      ? 'has no redrive policy'
      : redrive.targetArn === dead.arn
        ? `gives a message up after ${redrive.maxReceiveCount} receives`
        : 'gives messages up to another queue'
  return [
    mend(url, {
      severity: redrive === undefined ? 'warning' : 'error',
      wrong,
      effect:
        redrive === undefined
          ? 'A message that no function ever takes is deleted when it is too old.'
          : 'Events are given up that no handler has run, or where nobody looks.',
      property: 'deadLetterQueue.maxReceiveCount of the queue',
      attributes: { RedrivePolicy: JSON.stringify(policy) },
    }),
  ]
}

/** A ledger that forgets an event while its message can still come runs it a second time. */
function checkMemory(consumer: ConsumerFacts, queue: QueueFacts, dead: QueueFacts): readonly Finding[] {
  const kept = Number(consumer.handler?.environment['LEDGER_KEEP_DAYS'] ?? LEDGER_DAYS)
  const longest = (queue.retentionSeconds + dead.retentionSeconds) / DAY_SECONDS
  if (kept >= longest) return []
  return [
    {
      severity: 'error',
      resource: `ledger table ${consumer.ledgerName}`,
      wrong: `remembers events for ${kept} days, less than the ${Math.round(longest)} days that a message can live`,
      effect: 'An event that is redriven late is handled twice.',
      property: 'OutboxConsumer.ledgerRetention',
      command: `set LEDGER_KEEP_DAYS=${Math.ceil(longest)} for ${consumer.handlerName} and give it to createLedger as keepDays`,
    },
  ]
}

type Mend = Pick<Finding, 'severity' | 'wrong' | 'effect' | 'property'> & {
  readonly attributes: Readonly<Record<string, string>>
}

function mend(url: string, { attributes, ...rest }: Mend): Finding {
  return {
    ...rest,
    resource: `queue ${nameOf(url)}`,
    command: `aws sqs set-queue-attributes --queue-url ${url} --attributes '${JSON.stringify(attributes)}'`,
    fix: { kind: 'queue', url, attributes },
  }
}

function nameOf(url: string): string {
  return url.split('/').at(-1) ?? url
}

function kindOf({ fifo }: QueueFacts): string {
  return fifo ? 'FIFO' : 'standard'
}

function days({ retentionSeconds }: QueueFacts): number {
  return Math.round((retentionSeconds / DAY_SECONDS) * 10) / 10
}
