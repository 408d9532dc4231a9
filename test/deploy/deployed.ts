import { DescribeTableCommand, DescribeTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import {
  GetEventSourceMappingCommand,
  GetFunctionConfigurationCommand,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda'
import { GetQueueAttributesCommand } from '@aws-sdk/client-sqs'
import { eventually } from './eventually.ts'
import type { Sample } from './sample.ts'
import { resourcesOf } from './stack-resources.ts'
import type { World } from './world.ts'

/** What drifts are made in. */
export type Deployed = {
  readonly outboxTable: string
  readonly ledgerTable: string
  readonly queueUrl: string
  readonly deadLetterQueueUrl: string
  readonly relayMapping: string
  readonly handler: string
  readonly relay: string
  readonly alarms: readonly string[]
}

export async function findDeployed(sample: Sample): Promise<Deployed> {
  const { outboxTable, ledgerTable, queueUrl, deadLetterQueueUrl, relayMappingId, relayFunction } = sample.outputs()
  const resources = await resourcesOf(sample.stack)
  const named = (type: string, part: string) =>
    resources.filter((one) => one.type === type && one.logicalId.includes(part)).map(({ id }) => id)
  const [handler] = named('AWS::Lambda::Function', 'ShopHandlers')
  if (handler === undefined) throw new Error('the sample has no function of its shop')
  const alarms = named('AWS::CloudWatch::Alarm', 'OldestPending')
  const tables = { outboxTable, ledgerTable }
  const queues = { queueUrl, deadLetterQueueUrl }
  return { ...tables, ...queues, relayMapping: relayMappingId, handler, relay: relayFunction, alarms }
}

export async function queueMapping({ lambda }: World, { handler }: Deployed): Promise<string> {
  const command = new ListEventSourceMappingsCommand({ FunctionName: handler })
  const { EventSourceMappings: [mapping] = [] } = await lambda.send(command)
  if (mapping?.UUID === undefined) throw new Error('nothing feeds the shop')
  return mapping.UUID
}

/** Every attribute of what the drifts touch, but for those that change by themselves. */
export async function deployedAs(world: World, deployed: Deployed): Promise<object> {
  const { outboxTable, ledgerTable, queueUrl, deadLetterQueueUrl, relayMapping, handler, relay } = deployed
  const mapping = await queueMapping(world, deployed)
  return {
    relayMapping: await mappingAs(world, relayMapping),
    mapping: await mappingAs(world, mapping),
    queue: await queueAs(world, queueUrl),
    deadLetterQueue: await queueAs(world, deadLetterQueueUrl),
    handler: await functionAs(world, handler),
    relay: await functionAs(world, relay),
    outbox: await tableAs(world, outboxTable),
    ledger: await tableAs(world, ledgerTable),
  }
}

const OF_ITSELF =
  /^Approximate|ItemCount$|SizeBytes$|LastModified|LastProcessing|StateTransition|RevisionId|LastUpdate|^\$metadata$|^State/

function lasting(attributes: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !OF_ITSELF.test(name)))
}

async function mappingAs({ lambda }: World, UUID: string): Promise<object> {
  const settled = await eventually('a mapping that is not on its way', async () => {
    const mapping = await lambda.send(new GetEventSourceMappingCommand({ UUID }))
    return /^(Enabled|Disabled)$/.test(mapping.State ?? '') && mapping
  })
  return { ...lasting(settled), State: settled.State }
}

async function queueAs({ sqs }: World, QueueUrl: string): Promise<object> {
  const { Attributes = {} } = await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }))
  const { RedrivePolicy, ...rest } = Attributes
  return { ...lasting(rest), redrive: RedrivePolicy && JSON.parse(RedrivePolicy) }
}

async function functionAs({ lambda }: World, FunctionName: string): Promise<object> {
  return lasting(await lambda.send(new GetFunctionConfigurationCommand({ FunctionName })))
}

async function tableAs({ dynamo }: World, TableName: string): Promise<object> {
  const { TimeToLiveDescription: expiry } = await dynamo.send(new DescribeTimeToLiveCommand({ TableName }))
  const { Table = {} } = await dynamo.send(new DescribeTableCommand({ TableName }))
  const { GlobalSecondaryIndexes = [], ...table } = Table
  return { ...lasting(table), indexes: GlobalSecondaryIndexes.map(lasting), expiry }
}
