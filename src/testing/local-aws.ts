import { systemClock } from '../clock.ts'
import { createTables } from '../outbox/dynamo-create-tables.ts'
import { checkOptions, invalidSetting } from '../settings.ts'
import { createConnections } from './connect-sources.ts'
import { connectionEnvironment, connectLocalAws } from './connection.ts'
import { type Engine, startDynamoEngine } from './dynamo-engine.ts'
import { deleteTables } from './dynamo-local-tables.ts'
import { describeFailure } from './function.ts'
import type { LocalAws, LocalAwsOptions } from './local-aws-options.ts'
import type { LocalQueue } from './local-queue.ts'
import { scaledClock, type TimeScale } from './scaled-clock.ts'
import type { Source } from './source.ts'
import { createQueue } from './sqs-create-queue.ts'
import { type SqsEngine, startSqsEngine } from './sqs-engine.ts'
import { createStarters } from './start-parts.ts'
import { waitUntilIdle } from './wait.ts'

/**
 * Starts DynamoDB and SQS on free ports of 127.0.0.1, with the outbox and ledger tables. `await using` or `stop` ends
 * everything. Any number may run in one process. Throws `ENGINE_MISSING` where no engine can run.
 */
export async function startLocalAws(options: LocalAwsOptions = {}): Promise<LocalAws> {
  checkOptions('startLocalAws', options, ['speed', 'dynamoEndpoint', 'onFunctionError'])
  const scale = { speed: options.speed ?? 1, origin: systemClock.now() }
  const clock = scaledClock(scale)
  const engine = await startDynamoEngine(options.dynamoEndpoint)
  let sqsEngine: SqsEngine | undefined
  try {
    sqsEngine = await startSqsEngine(clock)
    return await assemble({ options, scale, engine, sqsEngine })
  } catch (error) {
    await Promise.all([sqsEngine?.stop(), engine.stop()])
    throw error
  }
}

type Parts = {
  readonly options: LocalAwsOptions
  readonly scale: TimeScale
  readonly engine: Engine
  readonly sqsEngine: SqsEngine
}

async function assemble({ options, scale, engine, sqsEngine }: Parts): Promise<LocalAws> {
  const suffix = systemClock.id().slice(0, 8)
  const tables = { outboxTable: `outbox-${suffix}`, ledgerTable: `ledger-${suffix}` }
  const connection = connectLocalAws({
    dynamoEndpoint: engine.endpoint,
    sqsEndpoint: sqsEngine.endpoint,
    ...tables,
    scale,
  })
  const { address, dynamo, sqs, clock } = connection
  await createTables({ client: dynamo, ...tables })

  const sources: Source[] = []
  let activity = 0
  let stopped: Promise<void> | undefined

  const queue = (urlOrName: string): LocalQueue => {
    const found = sqsEngine.queues.find(urlOrName)
    if (found === undefined) throw invalidSetting('queue', 'is not a queue of this local AWS')
    return found
  }
  const keep = <Kind extends Source>(source: Kind): Kind => {
    sources.push(source)
    return source
  }
  const connections = createConnections({
    connection,
    findQueue: queue,
    onActivity: () => {
      activity += 1
    },
    onError: options.onFunctionError ?? reportFailure,
    keep,
  })
  const stop = async (): Promise<void> => {
    await Promise.all(sources.splice(0).map((source) => source.stop()))
    if (engine.external) await deleteTables(dynamo, Object.values(tables))
    connection.close()
    await Promise.all([sqsEngine.stop(), engine.stop()])
  }
  const stopOnce = (): Promise<void> => {
    stopped ??= stop()
    return stopped
  }

  return {
    address,
    dynamo,
    sqs,
    ...tables,
    clock,
    env: connectionEnvironment(address),
    ...connections,
    ...createStarters(connection, { ...connections, keep }),
    createQueue: (name, settings) => createQueue(sqs, name, settings),
    queue,
    setSqsOutage: sqsEngine.setOutage,
    idle: (wait) => waitUntilIdle({ sources: () => sources, activity: () => activity }, wait),
    stop: stopOnce,
    [Symbol.asyncDispose]: stopOnce,
  }
}

function reportFailure(functionName: string, error: unknown): void {
  console.error(`${functionName}: ${describeFailure({ status: 'error', error })}`)
}
