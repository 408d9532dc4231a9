import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { SQSClient } from '@aws-sdk/client-sqs'
import { type Clock, systemClock } from '../clock.ts'
import { checkName } from '../event/grammar.ts'
import { pullShards } from '../outbox/row.ts'
import { checkQueuePair } from '../queue-url.ts'
import { checkClient, checkOptions, invalidSetting } from '../settings.ts'
import type { DeadLetterQueue } from './sqs-dead-letter-queue.ts'

/** A consumer as it is deployed. Several may share a ledger, or a queue. */
export type ConsumerResources = {
  /** Its `name` in `createConsumer`, or whatever tells it apart from the others. */
  readonly name: string
  readonly ledgerTable: string
  readonly queueUrl: string
  readonly deadLetterQueueUrl: string
}

/** All that an operator looks at: one outbox table, and the consumers behind it. */
export type OutboxSystem = {
  readonly dynamo: DynamoDBClient
  readonly sqs: SQSClient
  readonly outboxTable: string
  readonly consumers: readonly ConsumerResources[]
  /** Sources whose rows pull workers take: no index lists them all. Default: none. */
  readonly pullSources?: readonly string[]
  /** Default: the machine's. */
  readonly clock?: Clock
}

/** The outbox table, as what works on its rows needs it. */
export type OutboxRows = Pick<OutboxSystem, 'dynamo' | 'outboxTable'> & { readonly clock: Clock }

/** A system that was checked, with its clock. */
export type CheckedSystem = OutboxSystem & { readonly clock: Clock }

/** Refuses, as `INVALID_SETTING`, what would fail or do harm at the first request. */
export function checkSystem(owner: string, system: OutboxSystem): CheckedSystem {
  checkOptions(owner, system, ['dynamo', 'sqs', 'outboxTable', 'consumers', 'pullSources', 'clock'])
  const { dynamo, sqs, outboxTable, consumers, clock = systemClock } = system
  checkClient('dynamo', dynamo, 'DynamoDB')
  checkClient('sqs', sqs, 'SQS')
  if (typeof outboxTable !== 'string' || outboxTable === '')
    throw invalidSetting('outboxTable', 'must be the name of the outbox table')
  if (!Array.isArray(consumers)) throw invalidSetting('consumers', 'must be a list, empty if there are none')
  for (const source of system.pullSources ?? []) checkName('pullSources', source, 'source')
  for (const [n, consumer] of consumers.entries()) checkConsumer(`consumers[${n}]`, consumer)
  return { ...system, clock }
}

function checkConsumer(path: string, consumer: ConsumerResources): void {
  checkOptions(path, consumer, ['name', 'ledgerTable', 'queueUrl', 'deadLetterQueueUrl'])
  for (const field of ['name', 'ledgerTable'] as const) {
    if (typeof consumer[field] !== 'string' || consumer[field] === '')
      throw invalidSetting(`${path}.${field}`, 'must be a name')
  }
  checkQueuePair(consumer)
}

/** Each dead-letter queue once, with its queue. */
export function deadLetterQueues({ sqs, consumers }: OutboxSystem): readonly DeadLetterQueue[] {
  const pairs = new Map(consumers.map(({ deadLetterQueueUrl, queueUrl }) => [deadLetterQueueUrl, queueUrl]))
  return [...pairs].map(([deadLetterQueueUrl, queueUrl]) => ({ client: sqs, queueUrl, deadLetterQueueUrl }))
}

/** The shards of the index that hold the rows of pull workers, as far as their sources are known. */
export function knownPullShards({ pullSources = [] }: OutboxSystem): readonly string[] {
  return pullSources.flatMap(pullShards)
}

/** Each ledger once. */
export function ledgerTables({ consumers }: OutboxSystem): readonly string[] {
  return [...new Set(consumers.map(({ ledgerTable }) => ledgerTable))]
}

/** The ledgers of the consumers whose dead letters come to this queue: one, unless several share it. */
export function ledgersBehind({ consumers }: OutboxSystem, deadLetterQueueUrl: string): readonly string[] {
  const behind = consumers.filter((consumer) => consumer.deadLetterQueueUrl === deadLetterQueueUrl)
  return [...new Set(behind.map(({ ledgerTable }) => ledgerTable))]
}
