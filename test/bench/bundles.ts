import { join } from 'node:path'
import { type Bundle, bundle, CLIENTS_ALONE } from '../../functions/bundle.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The clients that a consumer uses, alone. */
const CONSUMER_CLIENTS = `
  import {
    BatchExecuteStatementCommand, BatchGetItemCommand, DynamoDBClient, GetItemCommand, QueryCommand,
  } from '@aws-sdk/client-dynamodb'
  import { DynamoDBDocumentClient, TransactWriteCommand } from '@aws-sdk/lib-dynamodb'
  import { ChangeMessageVisibilityBatchCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
  export const clients = [DynamoDBDocumentClient.from(new DynamoDBClient({})), new SQSClient({})]
  export const commands = [
    BatchExecuteStatementCommand, BatchGetItemCommand, GetItemCommand, QueryCommand, TransactWriteCommand,
    ChangeMessageVisibilityBatchCommand, SendMessageCommand,
  ]
`

/** What our functions and their peer have beside the AWS clients: Powertools' logger and metrics, and middy. */
const INSTRUMENTS = `
  import { Logger } from '@aws-lambda-powertools/logger'
  import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware'
  import { Metrics } from '@aws-lambda-powertools/metrics'
  import middy from '@middy/core'
  const metrics = new Metrics({ namespace: 'bench', serviceName: 'bench' })
  const instrument = (handle) =>
    middy(handle).use(injectLambdaContext(new Logger())).after(() => metrics.publishStoredMetrics())
`

/** A consumer by Powertools: FIFO batch processor, idempotency on DynamoDB, and a handler that writes an item. */
const POWERTOOLS_CONSUMER = `
  import { processPartialResponse, SqsFifoPartialProcessorAsync } from '@aws-lambda-powertools/batch'
  import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
  import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
  import { DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb'
  ${INSTRUMENTS}
  const documentClient = DynamoDBDocumentClient.from(new DynamoDBClient({}))
  const config = new IdempotencyConfig({ eventKeyJmesPath: 'messageId' })
  const persistenceStore = new DynamoDBPersistenceLayer({ tableName: 'idempotency' })
  const write = async ({ body }) =>
    documentClient.send(new PutCommand({ TableName: 'orders', Item: JSON.parse(body).data }))
  const once = makeIdempotent(write, { persistenceStore, config })
  const processor = new SqsFifoPartialProcessorAsync()
  export const handler = instrument(async (event, context) => {
    config.registerLambdaContext(context)
    return processPartialResponse(event, once, processor, { context })
  })
`

const text = (contents: string) => ({ stdin: { contents, resolveDir: ROOT } })
const file = (path: string) => ({ entryPoints: [join(ROOT, path)] })

/** Each function as it is deployed, and what to hold it against. */
const SOURCES = {
  relay: file('functions/relay.ts'),
  sweeper: file('functions/sweeper.ts'),
  consumer: file('functions/sample/shop-function.ts'),
  relayClients: text(CLIENTS_ALONE),
  consumerClients: text(CONSUMER_CLIENTS),
  powertools: text(POWERTOOLS_CONSUMER),
} as const

export type BundleName = keyof typeof SOURCES
export const BUNDLE_NAMES = Object.keys(SOURCES) as BundleName[]

export type Bundles = Readonly<Record<BundleName, Bundle>>

/** Bundled as `npm run build` bundles the functions. */
export async function makeBundles(): Promise<Bundles> {
  const made = await Promise.all(BUNDLE_NAMES.map(async (name) => [name, await bundle(SOURCES[name])] as const))
  return Object.fromEntries(made) as Record<BundleName, Bundle>
}
