import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { GetParametersByPathCommand, SSMClient } from '@aws-sdk/client-ssm'
import type { ConsumerResources, OutboxSystem } from '../ops/system.ts'
import { readSystems, SYSTEMS_PATH, type SystemEntry } from '../system-parameter.ts'
import type { Io } from './io.ts'
import { usageError } from './usage-error.ts'

/** Options that every command takes. */
export type SystemOptions = {
  readonly system?: string
  readonly outboxTable?: string
  readonly consumer?: readonly string[]
  readonly region?: string
  readonly pullSource?: readonly string[]
}

/** `entry`: what the constructs have written of it; absent for tables that were given by name. */
export type FoundSystem = { readonly system: OutboxSystem; readonly entry?: SystemEntry }

/**
 * The tables and queues to work on: those given by name; else those of one system, as its constructs have written them to the
 * SSM parameters under `/dynamodb-outbox/`. Throws a usage error if there is none, or more than one and none is named.
 */
export async function findSystem(options: SystemOptions, io: Io): Promise<FoundSystem> {
  const region = options.region === undefined ? {} : { region: options.region }
  const clients = {
    dynamo: new DynamoDBClient(region),
    sqs: new SQSClient(region),
    ...(options.pullSource === undefined ? {} : { pullSources: options.pullSource }),
  }
  const { outboxTable = io.env['OUTBOX_TABLE'], consumer = [] } = options
  if (outboxTable) return { system: { ...clients, outboxTable, consumers: consumer.map(parseConsumer) } }
  if (consumer.length > 0) throw usageError('--consumer goes with --outbox-table: name the outbox table too.')
  const entry = choose(await readAll(new SSMClient(region)), options.system ?? io.env['DYNAMODB_OUTBOX_SYSTEM'])
  const consumers = entry.consumers.map(({ handler: _, ...one }) => one)
  return { system: { ...clients, outboxTable: entry.outboxTable, consumers }, entry }
}

async function readAll(ssm: SSMClient): Promise<readonly SystemEntry[]> {
  const parameters: { name: string; value: string }[] = []
  let NextToken: string | undefined
  do {
    const command = new GetParametersByPathCommand({ Path: SYSTEMS_PATH, Recursive: true, NextToken })
    const page = await ssm.send(command)
    for (const { Name = '', Value = '' } of page.Parameters ?? []) parameters.push({ name: Name, value: Value })
    NextToken = page.NextToken
  } while (NextToken !== undefined)
  return readSystems(parameters)
}

function choose(entries: readonly SystemEntry[], wanted: string | undefined): SystemEntry {
  const named = entries.filter(({ name }) => wanted === undefined || name === wanted || name.startsWith(`${wanted}/`))
  const [only, ...more] = named
  const names = entries.map(({ name }) => name).join(', ')
  if (only === undefined)
    throw usageError(
      entries.length === 0
        ? 'No outbox is deployed in this account and Region. Check both (`aws sts get-caller-identity`, --region), or give --outbox-table.'
        : `There is no system of that name here. There are: ${names}.`,
    )
  if (more.length > 0) throw usageError(`There is more than one system. Give --system with one of: ${names}.`)
  return only
}

/** `name=ledgerTable,queueUrl,deadLetterQueueUrl` */
function parseConsumer(text: string): ConsumerResources {
  const [name = '', rest = ''] = text.split(/=(.*)/s)
  const [ledgerTable = '', queueUrl = '', deadLetterQueueUrl = ''] = rest.split(',')
  if (name === '' || ledgerTable === '' || queueUrl === '' || deadLetterQueueUrl === '')
    throw usageError('--consumer must be name=ledgerTable,queueUrl,deadLetterQueueUrl.')
  return { name, ledgerTable, queueUrl, deadLetterQueueUrl }
}
