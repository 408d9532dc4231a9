import { CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch'
import { LambdaClient } from '@aws-sdk/client-lambda'
import { systemClock } from '../clock.ts'
import type { AlarmFacts, ConsumerFacts, Deployment } from '../ops/deployment.ts'
import { readStatus } from '../ops/status.ts'
import type { OutboxSystem } from '../ops/system.ts'
import type { SystemEntry } from '../system-parameter.ts'
import { readFunction, readMappings } from './read-function.ts'
import { readQueue } from './read-queue.ts'
import { readTable } from './read-table.ts'

/** Reads all that `checkDeployment` compares. Throws what AWS answers, except that something is not there. */
export async function readDeployment(system: OutboxSystem, names: SystemEntry): Promise<Deployment> {
  const region = await system.dynamo.config.region()
  const lambda = new LambdaClient({ region })
  const [outboxTable, relay, sweeper, relayMappings, consumers, alarms] = await Promise.all([
    readTable(system.dynamo, names.outboxTable),
    readFunction(lambda, names.relay),
    readFunction(lambda, names.sweeper),
    readMappings(lambda, names.relay),
    Promise.all(names.consumers.map((consumer) => readConsumer(system, lambda, consumer))),
    readAlarms(new CloudWatchClient({ region })),
  ])
  const sweepers = outboxTable === undefined ? [] : (await readStatus({ ...system, consumers: [] })).sweepers
  return {
    now: systemClock.now(),
    region,
    names,
    outboxTable,
    relay,
    sweeper,
    relayMappings,
    sweptAt: sweepers.find((beat) => beat.region === region)?.at,
    consumers,
    alarms,
  }
}

async function readConsumer(
  { dynamo, sqs }: OutboxSystem,
  lambda: LambdaClient,
  { name, handler: handlerName, queueUrl, deadLetterQueueUrl, ledgerTable }: SystemEntry['consumers'][number],
): Promise<ConsumerFacts> {
  const [queue, deadLetterQueue, handler, ledger, mappings] = await Promise.all([
    readQueue(sqs, queueUrl),
    readQueue(sqs, deadLetterQueueUrl),
    readFunction(lambda, handlerName),
    readTable(dynamo, ledgerTable),
    readMappings(lambda, handlerName),
  ])
  return {
    name,
    handlerName,
    queueUrl,
    deadLetterQueueUrl,
    ledgerName: ledgerTable,
    queue,
    deadLetterQueue,
    handler,
    ledger,
    mappings,
  }
}

async function readAlarms(client: CloudWatchClient): Promise<readonly AlarmFacts[]> {
  const alarms: AlarmFacts[] = []
  for await (const page of paginateDescribeAlarms({ client }, { AlarmTypes: ['MetricAlarm'] })) {
    for (const { AlarmName = '', MetricName = '', Dimensions = [] } of page.MetricAlarms ?? [])
      alarms.push({ name: AlarmName, metric: MetricName, of: Dimensions.flatMap(({ Value }) => Value ?? []) })
  }
  return alarms
}
