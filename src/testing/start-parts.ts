import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { type ConsumerOptions, createConsumer } from '../consumer/consumer.ts'
import { createSqsQueue } from '../consumer/sqs-queue.ts'
import { createLedger } from '../ledger/dynamo-ledger.ts'
import { createOutbox } from '../outbox/create-outbox.ts'
import { createRelay } from '../relay/relay.ts'
import type { RelayOptions } from '../relay/relay-options.ts'
import type { Route } from '../relay/routes.ts'
import { createSqsPublisher } from '../relay/sqs-publisher.ts'
import { createSweeper } from '../relay/sweeper.ts'
import { invalidSetting } from '../settings.ts'
import type { Connections, FunctionCode } from './connect-sources.ts'
import type { LocalAwsConnection } from './connection.ts'
import { watchPendingRows } from './dynamo-pending-rows.ts'
import type { FilterPattern } from './event-filter.ts'
import type { FunctionOptions } from './function.ts'
import type { SqsEvent, StreamEvent } from './lambda-events.ts'
import type { LocalQueueInfo } from './local-queue-info.ts'
import type { QueueSettings, QueueSource } from './queue-source.ts'
import { LOCAL_REGION } from './records.ts'
import type { Schedule, ScheduledEvent } from './schedule.ts'
import type { Source } from './source.ts'
import type { StreamSettings } from './stream-settings.ts'
import type { StreamSource } from './stream-source.ts'

/** Where rows go: every row to one queue, or by routes; with the relay's other options. */
type Destinations = Omit<RelayOptions, 'client' | 'tableName' | 'routes' | 'clock'> & {
  readonly queue?: LocalQueueInfo
  readonly routes?: readonly Route[]
}

export type RelayStart = Destinations & {
  /** A relay of your own, in place of `queue` or `routes`. */
  readonly handler?: FunctionCode<StreamEvent>
  /** In place of the settings of a deployed mapping. */
  readonly mapping?: StreamSettings & FunctionOptions
}

export type SweeperStart = Destinations & {
  readonly handler?: FunctionCode<ScheduledEvent>
  /** Default one minute, ms of the clock. */
  readonly everyMs?: number
  /** Default one minute, ms of the clock. */
  readonly timeoutMs?: number
}

export type ConsumerStart = {
  readonly queue: LocalQueueInfo
  /** In place of the settings of a deployed mapping. */
  readonly mapping?: QueueSettings & FunctionOptions
} & ({ readonly consumer: FunctionCode<SqsEvent> } | (HandlersStart & { readonly consumer?: never }))

type HandlersStart = Omit<ConsumerOptions, 'ledger' | 'queue' | 'clock'> & {
  /** For handlers that commit native values: `DynamoDBDocumentClient.from(aws.dynamo)`. Default: AttributeValues. */
  readonly documentClient?: DynamoDBDocumentClient
}

export type Starters = {
  /** The relay on the outbox table's stream. Give `queue`, `routes` or `handler`. */
  readonly startRelay: (options?: RelayStart) => Promise<StreamSource>
  /** The sweeper on its schedule. Give `queue`, `routes` or `handler`. */
  readonly startSweeper: (options?: SweeperStart) => Schedule
  /** A consumer on a queue made with `deadLetter: true`: one of your own, or name and handlers for one on the local ledger. */
  readonly startConsumer: (options: ConsumerStart) => QueueSource
}

const RELAY_TIMEOUT_MS = 120_000
const SWEEP_MS = 60_000
const CONSUMER_TIMEOUT_MS = 60_000

/** What a deployed mapping of the relay lets through: pending rows of this Region, when they are inserted. */
export const RELAY_FILTER: FilterPattern = {
  eventName: ['INSERT'],
  dynamodb: { NewImage: { shard: { S: [{ prefix: 'p#' }] }, region: { S: [LOCAL_REGION] } } },
}

/** Starts the package's own functions on a local AWS, with the settings that they are deployed with. */
export function createStarters(
  connection: LocalAwsConnection,
  { keep, ...aws }: Connections & { readonly keep: (source: Source) => void },
): Starters {
  const { dynamo, sqs, clock, outboxTable, ledgerTable } = connection

  const relayOptions = ({ queue, routes, ...others }: Destinations): RelayOptions => {
    if ((queue === undefined) === (routes === undefined)) {
      throw invalidSetting('queue, routes', 'must be given, one of them and not both, unless there is a handler')
    }
    const toQueue = queue && [{ to: createSqsPublisher({ client: sqs, queueUrl: queue.url }) }]
    return { ...others, client: dynamo, tableName: outboxTable, routes: toQueue ?? routes ?? [], clock }
  }

  const buildConsumer = (queue: LocalQueueInfo, { documentClient, ...options }: HandlersStart) => {
    const outbox = { tableName: outboxTable, clock }
    const { deadLetterUrl } = queue
    if (deadLetterUrl === undefined) throw invalidSetting('queue', 'must be created with deadLetter: true')
    return createConsumer({
      outbox:
        documentClient === undefined
          ? createOutbox({ client: dynamo, ...outbox })
          : createOutbox({ documentClient, ...outbox }),
      ...options,
      clock,
      ledger: createLedger({
        ...(documentClient === undefined ? { client: dynamo } : { documentClient }),
        tableName: ledgerTable,
        clock,
      }),
      queue: createSqsQueue({ client: sqs, queueUrl: queue.url, deadLetterQueueUrl: deadLetterUrl }),
    })
  }

  let watched = false
  const watchRows = (): void => {
    if (!watched) keep(watchPendingRows(dynamo, outboxTable))
    watched = true
  }

  return {
    startRelay: async ({ handler, mapping, ...destinations } = {}) => {
      const relay = handler ?? createRelay(relayOptions(destinations))
      watchRows()
      return aws.connectStream({
        name: 'relay',
        batchSize: 100,
        bisect: true,
        maxRetries: 10,
        reportBatchItemFailures: true,
        filter: RELAY_FILTER,
        timeoutMs: RELAY_TIMEOUT_MS,
        ...mapping,
        handler: relay,
      })
    },
    startSweeper: ({ handler, everyMs = SWEEP_MS, timeoutMs = SWEEP_MS, ...destinations } = {}) =>
      aws.schedule({
        name: 'sweeper',
        everyMs,
        timeoutMs,
        handler: handler ?? createSweeper(relayOptions(destinations)),
      }),
    startConsumer: (given) => {
      if (!given?.queue) throw invalidSetting('queue', 'must be a queue that createQueue has made')
      const { queue, mapping, consumer, ...options } = given
      return aws.connectQueue({
        name: 'consumer',
        reportBatchItemFailures: true,
        timeoutMs: CONSUMER_TIMEOUT_MS,
        ...mapping,
        queue,
        handler: consumer ?? buildConsumer(queue, options as HandlersStart),
      })
    },
  }
}
