import {
  DeleteAlarmsCommand,
  DescribeAlarmsCommand,
  type MetricAlarm,
  PutMetricAlarmCommand,
  type PutMetricAlarmCommandInput,
} from '@aws-sdk/client-cloudwatch'
import { UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import {
  GetFunctionConfigurationCommand,
  UpdateEventSourceMappingCommand,
  UpdateFunctionConfigurationCommand,
} from '@aws-sdk/client-lambda'
import { GetQueueAttributesCommand, SetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { VARIABLES } from '../../src/settings.ts'
import { type Deployed, queueMapping } from './deployed.ts'
import type { World } from './world.ts'

/** What doctor must say of the drifts, each once. */
export const NAMED: readonly RegExp[] = [
  /^mapping of the relay .* is disabled$/,
  /^mapping of the relay .* takes no partial responses$/,
  /^mapping of the relay .* repeats a failing batch without end$/,
  /^mapping of the relay .* does not halve a failing batch$/,
  /^mapping of consumer shop .* takes no partial responses$/,
  /^outbox table .* deletes nothing$/,
  /^queue .* hides a message for 20 s/,
  /^queue .* gives a message up after 3 receives$/,
  /^queue .* is not set to high throughput$/,
  /^queue .* keeps messages for 1 days/,
  /^consumer shop .* has another LEDGER_TABLE than its stack made$/,
  /^alarm on OldestPendingMs .* is not there$/,
]

/** What operators may set as they like: it must outlive the mending. */
export async function setByOperator(world: World, deployed: Deployed): Promise<void> {
  const { lambda, sqs } = world
  const { relayMapping, queueUrl, deadLetterQueueUrl } = deployed
  await lambda.send(new UpdateEventSourceMappingCommand({ UUID: relayMapping, BatchSize: 70 }))
  await lambda.send(new UpdateEventSourceMappingCommand({ UUID: await queueMapping(world, deployed), BatchSize: 7 }))
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: queueUrl, Attributes: { DelaySeconds: '1' } }))
  const waiting = { ReceiveMessageWaitTimeSeconds: '5' }
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: deadLetterQueueUrl, Attributes: waiting }))
}

/** Makes every drift; gives the alarm that it deleted. */
export async function drift(world: World, deployed: Deployed): Promise<MetricAlarm> {
  const { lambda, sqs, dynamo } = world
  const { relayMapping, queueUrl, deadLetterQueueUrl, outboxTable } = deployed
  await lambda.send(
    new UpdateEventSourceMappingCommand({
      UUID: relayMapping,
      Enabled: false,
      FunctionResponseTypes: [],
      MaximumRetryAttempts: -1,
      BisectBatchOnFunctionError: false,
    }),
  )
  const mapping = await queueMapping(world, deployed)
  await lambda.send(new UpdateEventSourceMappingCommand({ UUID: mapping, FunctionResponseTypes: [] }))
  const off = { Enabled: false, AttributeName: 'expires' }
  await dynamo.send(new UpdateTimeToLiveCommand({ TableName: outboxTable, TimeToLiveSpecification: off }))
  await sqs.send(
    new SetQueueAttributesCommand({
      QueueUrl: queueUrl,
      Attributes: {
        VisibilityTimeout: '20',
        FifoThroughputLimit: 'perQueue',
        DeduplicationScope: 'queue',
        RedrivePolicy: await givingUpAfter(world, queueUrl, 3),
      },
    }),
  )
  const short = { MessageRetentionPeriod: '86400' }
  await sqs.send(new SetQueueAttributesCommand({ QueueUrl: deadLetterQueueUrl, Attributes: short }))
  await setLedger(world, deployed, 'another-ledger')
  return deleteAlarm(world, deployed)
}

async function givingUpAfter({ sqs }: World, QueueUrl: string, maxReceiveCount: number): Promise<string> {
  const command = new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['RedrivePolicy'] })
  const { Attributes } = await sqs.send(command)
  return JSON.stringify({ ...JSON.parse(Attributes?.RedrivePolicy ?? '{}'), maxReceiveCount })
}

async function setLedger({ lambda }: World, { handler }: Deployed, name: string): Promise<void> {
  const { Environment } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName: handler }))
  const Variables = { ...Environment?.Variables, [VARIABLES.ledgerTable]: name }
  await lambda.send(new UpdateFunctionConfigurationCommand({ FunctionName: handler, Environment: { Variables } }))
}

async function deleteAlarm({ cloudWatch }: World, { alarms }: Deployed): Promise<MetricAlarm> {
  const { MetricAlarms: [alarm] = [] } = await cloudWatch.send(new DescribeAlarmsCommand({ AlarmNames: [...alarms] }))
  if (alarm === undefined) throw new Error('the sample has no alarm on the age of rows')
  await cloudWatch.send(new DeleteAlarmsCommand({ AlarmNames: [...alarms] }))
  return alarm
}

/** What a deployment would do of the rest: the alarm and the variable are there again. */
export async function restoreByHand(world: World, deployed: Deployed, alarm: MetricAlarm): Promise<void> {
  await setLedger(world, deployed, deployed.ledgerTable)
  const { AlarmName, MetricName, Namespace, Dimensions, Statistic, Period, Threshold, ComparisonOperator } = alarm
  const { EvaluationPeriods, DatapointsToAlarm, TreatMissingData, AlarmDescription } = alarm
  await world.cloudWatch.send(
    new PutMetricAlarmCommand({
      AlarmName,
      MetricName,
      Namespace,
      Dimensions,
      Statistic,
      Period,
      Threshold,
      ComparisonOperator,
      EvaluationPeriods,
      DatapointsToAlarm,
      TreatMissingData,
      AlarmDescription,
    } as PutMetricAlarmCommandInput),
  )
}
