import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { type Clock, systemClock } from '../clock.ts'
import { checkOptions, invalidSetting } from '../settings.ts'
import { connectionEnvironment, connectLocalAws, type LocalAwsAddress } from './connection.ts'
import { startDynamoEngine } from './dynamo-engine.ts'
import { createLocalTables, deleteLocalTables, streamArnOf } from './dynamo-local-tables.ts'
import { openStream } from './dynamo-stream-reader.ts'
import { checkFilter, type FilterPattern } from './event-filter.ts'
import {
  createFunction,
  describeFailure,
  type FunctionOptions,
  inProcess,
  type LocalFunction,
  type Runner,
} from './function.ts'
import type { LambdaHandler, SqsEvent, StreamEvent } from './lambda-events.ts'
import type { LocalQueue } from './local-queue.ts'
import type { ProcessFunction } from './process-function.ts'
import { createQueueSource, type QueueSettings, type QueueSource } from './queue-source.ts'
import { queueArn } from './records.ts'
import { createSchedule, type Schedule, type ScheduledEvent } from './schedule.ts'
import type { Source } from './source.ts'
import { startSqsEngine } from './sqs-engine.ts'
import type { StreamSettings } from './stream-settings.ts'
import { createStreamSource, type StreamSource } from './stream-source.ts'
import { type WaitOptions, waitUntilIdle } from './wait.ts'

export type LocalAwsOptions = {
  /** How many times faster than real time its clock runs. Default 1. */
  readonly speed?: number
  /** A DynamoDB that runs already. Default: `DYNAMODB_ENDPOINT`, else an embedded engine. */
  readonly dynamoEndpoint?: string
  /** Hears of every invocation that threw, with the function's name. Default: one line on standard error. */
  readonly onFunctionError?: (functionName: string, error: unknown) => void
}

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

export type LocalQueueOptions = {
  /** Default true: `.fifo` is added to the name. */
  readonly fifo?: boolean
  /** Default 900. */
  readonly visibilityTimeoutSeconds?: number
  /** Also create `<name>-dead`, to which messages go after `maxReceiveCount` receives. Default false. */
  readonly deadLetter?: boolean
  /** 1–1000. Default 1000. */
  readonly maxReceiveCount?: number
  /** Any other attribute of `CreateQueue`. */
  readonly attributes?: Readonly<Record<string, string>>
}

export type LocalQueueInfo = {
  readonly name: string
  readonly url: string
  readonly arn: string
  readonly deadLetterUrl?: string
  readonly deadLetterArn?: string
}

export type LocalAws = AsyncDisposable & {
  readonly address: LocalAwsAddress
  readonly dynamo: DynamoDBClient
  readonly sqs: SQSClient
  readonly outboxTable: string
  readonly ledgerTable: string
  /** Its time: give it to whatever takes a clock. */
  readonly clock: Clock
  /** For a process of your own that joins with `connectLocalAws`. */
  readonly env: Readonly<Record<string, string>>
  readonly createQueue: (name: string, options?: LocalQueueOptions) => Promise<LocalQueueInfo>
  /** The queue behind a URL or name, to look at its depth. */
  readonly queue: (urlOrName: string) => LocalQueue
  readonly connectStream: (connection: StreamConnection) => Promise<StreamSource>
  readonly connectQueue: (connection: QueueConnection) => QueueSource
  readonly schedule: (connection: ScheduleConnection) => Schedule
  /** While true, every SQS request is answered with 503. */
  readonly setSqsOutage: (down: boolean) => void
  /** Resolves once the streams have been read, connected queues are empty and no function runs. Throws after the timeout. */
  readonly idle: (options?: WaitOptions) => Promise<void>
  readonly stop: () => Promise<void>
}

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

/**
 * Starts DynamoDB and SQS on free ports of 127.0.0.1, with the outbox and ledger tables. `await using` or `stop` ends
 * everything. Any number may run in one process. Throws `ENGINE_MISSING` where no engine can run.
 */
export async function startLocalAws(options: LocalAwsOptions = {}): Promise<LocalAws> {
  checkOptions('startLocalAws', options, ['speed', 'dynamoEndpoint', 'onFunctionError'])
  const scale = { speed: options.speed ?? 1, origin: systemClock.now() }
  const suffix = systemClock.id().slice(0, 8)
  const engine = await startDynamoEngine(options.dynamoEndpoint)
  const address = {
    dynamoEndpoint: engine.endpoint,
    outboxTable: `outbox-${suffix}`,
    ledgerTable: `ledger-${suffix}`,
    scale,
  }
  const sqsEngine = await startSqsEngine(connectLocalAws({ ...address, sqsEndpoint: '' }).clock)
  const connection = connectLocalAws({ ...address, sqsEndpoint: sqsEngine.endpoint })
  const { dynamo, sqs, clock } = connection
  await createLocalTables(dynamo, address)

  const env = connectionEnvironment(connection.address)
  const sources: Source[] = []
  let activity = 0
  const onActivity = (): void => {
    activity += 1
  }
  const onError = options.onFunctionError ?? reportFailure

  const build = <Event>(
    settings: FunctionOptions & { readonly handler: FunctionCode<Event> },
  ): LocalFunction<Event> => {
    const { handler } = settings
    const runner: Runner<Event> =
      typeof handler === 'function' ? inProcess(handler, clock) : handler.createRunner(scale, env)
    return createFunction(settings, { clock, runner, onError })
  }
  const keep = <Kind extends Source>(source: Kind): Kind => {
    sources.push(source)
    return source
  }
  const queue = (urlOrName: string): LocalQueue => {
    const found = sqsEngine.queues.find(urlOrName)
    if (found === undefined) throw invalidSetting('queue', 'is not a queue of this local AWS')
    return found
  }

  const createQueue = async (name: string, settings: LocalQueueOptions = {}): Promise<LocalQueueInfo> => {
    const {
      fifo = true,
      deadLetter = false,
      visibilityTimeoutSeconds = 900,
      maxReceiveCount = 1000,
      attributes = {},
    } = settings
    checkOptions('createQueue', settings, [
      'fifo',
      'deadLetter',
      'visibilityTimeoutSeconds',
      'maxReceiveCount',
      'attributes',
    ])
    const base = name.replace(/\.fifo$/, '')
    const full = `${base}${fifo ? '.fifo' : ''}`
    const common = {
      VisibilityTimeout: String(visibilityTimeoutSeconds),
      ...(fifo ? { FifoQueue: 'true' } : {}),
      ...attributes,
    }
    const send = async (QueueName: string, Attributes: Record<string, string>): Promise<string> =>
      (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? ''
    if (!deadLetter) return { name: full, url: await send(full, common), arn: queueArn(full) }
    const deadName = `${base}-dead${fifo ? '.fifo' : ''}`
    const deadLetterUrl = await send(deadName, common)
    const deadLetterArn = queueArn(deadName)
    const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: deadLetterArn, maxReceiveCount })
    return {
      name: full,
      url: await send(full, { ...common, RedrivePolicy }),
      arn: queueArn(full),
      deadLetterUrl,
      deadLetterArn,
    }
  }

  const stop = async (): Promise<void> => {
    await Promise.all(sources.splice(0).map((source) => source.stop()))
    if (engine.external) await deleteLocalTables(dynamo, address)
    connection.close()
    await Promise.all([sqsEngine.stop(), engine.stop()])
  }

  return {
    ...connection,
    env,
    createQueue,
    queue,
    connectStream: async (settings) => {
      checkOptions('connectStream', settings, [...STREAM_SETTINGS, ...FUNCTION_SETTINGS, 'table'])
      checkFilters(settings.filter)
      const { table = connection.outboxTable, startingPosition = 'TRIM_HORIZON' } = settings
      const streamArn = await streamArnOf(dynamo, table)
      if (streamArn === undefined) throw invalidSetting('table', 'has no stream')
      const reader = await openStream({ endpoint: engine.endpoint, streamArn, startingPosition })
      return keep(
        createStreamSource(settings, {
          clock,
          speed: scale.speed,
          streamArn,
          reader,
          function: build(settings),
          onActivity,
        }),
      )
    },
    connectQueue: (settings) => {
      checkOptions('connectQueue', settings, [...QUEUE_SETTINGS, ...FUNCTION_SETTINGS, 'queue'])
      checkFilters(settings.filter)
      const target = queue(typeof settings.queue === 'string' ? settings.queue : settings.queue.url)
      const built = build(settings)
      if (built.timeoutMs > target.visibilityMs())
        throw invalidSetting('timeoutMs', "must not be over the queue's visibility timeout")
      return keep(createQueueSource(settings, { clock, queue: target, function: built, onActivity }))
    },
    schedule: (settings) => {
      checkOptions('schedule', settings, [...FUNCTION_SETTINGS, 'everyMs'])
      return keep(createSchedule(settings.everyMs, { clock, function: build(settings), onActivity }))
    },
    setSqsOutage: sqsEngine.setOutage,
    idle: (wait) =>
      waitUntilIdle(
        () => sources,
        () => activity,
        wait,
      ),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function checkFilters(filter: FilterPattern | readonly FilterPattern[] | undefined): void {
  for (const pattern of (Array.isArray(filter) ? filter : [filter ?? {}]) as readonly FilterPattern[])
    checkFilter(pattern)
}

function reportFailure(functionName: string, error: unknown): void {
  console.error(`${functionName}: ${describeFailure({ status: 'error', error })}`)
}
