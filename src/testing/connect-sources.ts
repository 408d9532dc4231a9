import { checkOptions, invalidSetting } from '../settings.ts'
import { connectionEnvironment, type LocalAwsConnection } from './connection.ts'
import { streamArnOf } from './dynamo-local-tables.ts'
import { openStream } from './dynamo-stream-reader.ts'
import { checkFilter, type FilterPattern } from './event-filter.ts'
import { createFunction, type FunctionOptions, inProcess, type LocalFunction, type Runner } from './function.ts'
import type { LambdaHandler, SqsEvent, StreamEvent } from './lambda-events.ts'
import type { LocalQueue } from './local-queue.ts'
import type { LocalQueueInfo } from './local-queue-info.ts'
import type { ProcessFunction } from './process-function.ts'
import { createQueueSource, type QueueSettings, type QueueSource } from './queue-source.ts'
import { LOCAL_REGION } from './records.ts'
import { createSchedule, type Schedule, type ScheduledEvent } from './schedule.ts'
import type { Source } from './source.ts'
import type { StreamSettings } from './stream-settings.ts'
import { createStreamSource, type StreamSource } from './stream-source.ts'

/** A handler in this process, or one in processes of its own. */
export type FunctionCode<Event> = LambdaHandler<Event> | ProcessFunction

export type StreamConnection = StreamSettings &
  FunctionOptions & { readonly handler: FunctionCode<StreamEvent>; readonly table?: string }
export type QueueConnection = QueueSettings &
  FunctionOptions & { readonly handler: FunctionCode<SqsEvent>; readonly queue: string | LocalQueueInfo }
export type ScheduleConnection = FunctionOptions & {
  readonly handler: FunctionCode<ScheduledEvent>
  readonly everyMs: number
}

export type Connections = {
  /** A function on a table's stream. Default table: the outbox. */
  readonly connectStream: (connection: StreamConnection) => Promise<StreamSource>
  readonly connectQueue: (connection: QueueConnection) => QueueSource
  readonly schedule: (connection: ScheduleConnection) => Schedule
}

/** Names of the settings of each kind of connection, to refuse others. */
const STREAM_SETTINGS = [
  'batchSize',
  'windowMs',
  'filter',
  'parallelization',
  'maxRetries',
  'maxAgeMs',
  'bisect',
  'reportBatchItemFailures',
  'startingPosition',
  'onFailure',
  'faults',
]
const QUEUE_SETTINGS = ['batchSize', 'windowMs', 'maxConcurrency', 'reportBatchItemFailures', 'filter']
const FUNCTION_SETTINGS = ['name', 'timeoutMs', 'concurrency', 'handler']

export type ConnectDependencies = {
  readonly connection: LocalAwsConnection
  readonly findQueue: (urlOrName: string) => LocalQueue
  readonly onActivity: () => void
  readonly onError: (functionName: string, error: unknown) => void
  /** Remembers a source, to wait for it and to stop it. */
  readonly keep: <Kind extends Source>(source: Kind) => Kind
}

/** Connects functions to streams, queues and schedules. */
export function createConnections({
  connection,
  findQueue,
  onActivity,
  onError,
  keep,
}: ConnectDependencies): Connections {
  const { dynamo, clock, address } = connection
  const { scale } = address
  const env = connectionEnvironment(address)

  const build = <Event>(
    settings: FunctionOptions & { readonly handler: FunctionCode<Event> },
  ): LocalFunction<Event> => {
    const { handler } = settings
    const runner: Runner<Event> =
      typeof handler === 'function' ? inProcess(handler, clock) : handler.createRunner(scale, env)
    return createFunction(settings, { clock, runner, onError })
  }

  return {
    connectStream: async (settings) => {
      checkOptions('connectStream', settings, [...STREAM_SETTINGS, ...FUNCTION_SETTINGS, 'table'])
      checkFilters(settings.filter)
      const { table = connection.outboxTable, startingPosition = 'TRIM_HORIZON' } = settings
      const streamArn = await streamArnOf(dynamo, table)
      if (streamArn === undefined) throw invalidSetting('table', 'has no stream')
      const reader = await openStream({ endpoint: address.dynamoEndpoint, streamArn, startingPosition })
      return keep(
        createStreamSource(settings, {
          clock,
          speed: scale.speed,
          streamArn: inLocalRegion(streamArn),
          reader,
          function: build(settings),
          onActivity,
        }),
      )
    },
    connectQueue: (settings) => {
      checkOptions('connectQueue', settings, [...QUEUE_SETTINGS, ...FUNCTION_SETTINGS, 'queue'])
      checkFilters(settings.filter)
      const target = findQueue(typeof settings.queue === 'string' ? settings.queue : settings.queue.url)
      const built = build(settings)
      if (built.timeoutMs > target.visibilityMs())
        throw invalidSetting('timeoutMs', "must not be over the queue's visibility timeout")
      return keep(createQueueSource(settings, { clock, queue: target, function: built, onActivity }))
    },
    schedule: (settings) => {
      checkOptions('schedule', settings, [...FUNCTION_SETTINGS, 'everyMs'])
      return keep(createSchedule(settings.everyMs, { clock, function: build(settings), onActivity }))
    },
  }
}

function checkFilters(filter: FilterPattern | readonly FilterPattern[] | undefined): void {
  for (const pattern of (Array.isArray(filter) ? filter : [filter ?? {}]) as readonly FilterPattern[])
    checkFilter(pattern)
}

/** Engines put a name of their own in the place of the Region. */
function inLocalRegion(arn: string): string {
  return arn.split(':').with(3, LOCAL_REGION).join(':')
}
