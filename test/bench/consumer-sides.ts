import { processPartialResponse, SqsFifoPartialProcessorAsync } from '@aws-lambda-powertools/batch'
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb'
import { type DynamoDBClient, PutItemCommand } from '@aws-sdk/client-dynamodb'
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda'
import { createConsumer, createLedger, createSqsQueue, on } from '../../src/consumer/index.ts'
import type { Clients } from './clients.ts'

/** Who handles batches of messages, and counts the runs of its handler. */
export type BatchHandler = {
  /** Throws if a message was to come again. */
  readonly handle: (event: SQSEvent) => Promise<void>
  readonly runs: () => number
}

/** What the same business handler does on either side: nothing but count, or write one item. */
export type Effect = 'none' | 'item'

export const TABLES = { ledger: 'bench-ledger', idempotency: 'bench-idempotency', orders: 'bench-orders' } as const

const TYPE = 'order.placed'
const silent = { info: () => {}, warn: () => {}, error: () => {} }

const context = {
  functionName: 'bench',
  functionVersion: '1',
  invokedFunctionArn: 'arn:aws:lambda:us-east-1:000000000000:function:bench',
  awsRequestId: 'request',
  memoryLimitInMB: '256',
  getRemainingTimeInMillis: () => 30_000,
} as Context

type Order = { readonly orderId: string; readonly total: number }

const orderItem = ({ orderId, total }: Order) => ({
  TableName: TABLES.orders,
  Item: { pk: { S: orderId }, total: { N: String(total) } },
})

/** The consumer of this package. An effect is committed together with *done*. */
export function ourConsumer({ dynamo, sqs }: Clients, queueUrl: string, effect: Effect): BatchHandler {
  let runs = 0
  const consume = createConsumer({
    name: 'bench',
    ledger: createLedger({ client: dynamo, tableName: TABLES.ledger }),
    queue: createSqsQueue({ client: sqs, queueUrl, deadLetterQueueUrl: queueUrl.replace('.fifo', '-dead.fifo') }),
    logger: silent,
    handlers: [
      on(TYPE, `take-${effect}`, async ({ data }, { commit }) => {
        runs += 1
        if (effect === 'item') await commit([{ Put: orderItem(data as Order) }])
      }),
    ],
  })
  return { runs: () => runs, handle: async (event) => refuseFailures(await consume(event, context)) }
}

/**
 * Powertools as its documentation combines the two: the FIFO batch processor, and the record's handler made idempotent by
 * the message's id on the DynamoDB persistence layer.
 */
export function powertoolsConsumer({ dynamo }: Clients, effect: Effect): BatchHandler {
  let runs = 0
  const config = new IdempotencyConfig({ eventKeyJmesPath: 'messageId' })
  const persistenceStore = new DynamoDBPersistenceLayer({ tableName: TABLES.idempotency, awsSdkV3Client: dynamo })
  const handleRecord = async (record: SQSRecord): Promise<void> => {
    const { data } = JSON.parse(record.body) as { data: Order }
    runs += 1
    if (effect === 'item') await putOrder(dynamo, data)
  }
  const once = makeIdempotent(handleRecord, { persistenceStore, config, keyPrefix: `take-${effect}` })
  const processor = new SqsFifoPartialProcessorAsync()
  const handle = async (event: SQSEvent): Promise<void> => {
    config.registerLambdaContext(context)
    refuseFailures(await processPartialResponse(event, once, processor, { context }))
  }
  return { handle, runs: () => runs }
}

async function putOrder(dynamo: DynamoDBClient, order: Order): Promise<void> {
  await dynamo.send(new PutItemCommand(orderItem(order)))
}

function refuseFailures({ batchItemFailures }: { readonly batchItemFailures: readonly unknown[] }): void {
  if (batchItemFailures.length > 0) throw new Error(`${batchItemFailures.length} messages were to come again`)
}
