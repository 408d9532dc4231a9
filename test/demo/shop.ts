import { CreateTableCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { StockRejected, StockReserved } from '../../functions/sample/events.ts'
import { createPlaceOrder } from '../../functions/sample/place-order.ts'
import { createConsumer, createLedger, createSqsQueue, on } from '../../src/consumer/index.ts'
import { createOutbox } from '../../src/index.ts'
import { createRelay, createSqsPublisher, createSweeper } from '../../src/relay/index.ts'
import { type LocalAws, processFunction, startLocalAws } from '../../src/testing/index.ts'
import { spoil } from './chance.ts'
import { demoEnvironment } from './environment.ts'

/** Times real time: a retry cycle of ten minutes takes 15 s, on the unchanged schedule. */
export const SPEED = 40
export const SHOP_TABLE = 'shop'
const MINUTE = 60_000

export type ShopOptions = { readonly random: () => number; readonly killAfterMail: readonly string[] }

/** The sample shop on a local AWS: relay and sweeper here, the consumer in processes of its own. */
export async function openShop({ random, killAfterMail }: ShopOptions) {
  const aws = await startLocalAws({ speed: SPEED, onFunctionError: () => {} })
  const orders = await aws.createQueue('orders', { deadLetter: true, visibilityTimeoutSeconds: 1800 })
  const shipping = await aws.createQueue('shipping', { deadLetter: true, visibilityTimeoutSeconds: 1800 })
  const { clock } = aws
  await createShopTable(aws)

  const routes = [
    {
      type: ['order.placed', 'order.confirmation-requested'],
      to: createSqsPublisher({ client: aws.sqs, queueUrl: orders.url }),
    },
    { type: ['stock.reserved', 'stock.rejected'], to: createSqsPublisher({ client: aws.sqs, queueUrl: shipping.url }) },
  ]
  const quiet = { info: () => {}, warn: () => {}, error: () => {} }
  const relaying = { client: aws.dynamo, tableName: aws.outboxTable, routes, clock, logger: quiet }
  await aws.connectStream({
    name: 'relay',
    handler: createRelay(relaying),
    timeoutMs: 2 * MINUTE,
    batchSize: 100,
    parallelization: 4,
    maxRetries: 5,
    bisect: true,
    reportBatchItemFailures: true,
    filter: { eventName: ['INSERT'], dynamodb: { NewImage: { shard: { S: [{ prefix: 'p#' }] } } } },
    faults: (records) => spoil(records, random),
  })
  aws.schedule({ name: 'sweeper', handler: createSweeper(relaying), everyMs: MINUTE, timeoutMs: MINUTE })

  const deadLetterQueueUrl = orders.deadLetterUrl ?? ''
  const consumer = processFunction({
    module: new URL('./consumer-process.ts', import.meta.url),
    env: demoEnvironment({ shopTable: SHOP_TABLE, queueUrl: orders.url, deadLetterQueueUrl, killAfterMail }),
  })
  const mapping = { timeoutMs: 5 * MINUTE, reportBatchItemFailures: true, maxConcurrency: 3 }
  aws.connectQueue({ ...mapping, name: 'shop', queue: orders, handler: consumer })

  const documentClient = DynamoDBDocumentClient.from(aws.dynamo)
  const outbox = createOutbox({ documentClient, tableName: aws.outboxTable, clock })
  const deadShipments = shipping.deadLetterUrl ?? ''
  aws.connectQueue({
    ...mapping,
    name: 'shipping',
    queue: shipping,
    handler: createConsumer({
      name: 'shipping',
      clock,
      logger: quiet,
      ledger: createLedger({ documentClient, tableName: aws.ledgerTable, clock }),
      queue: createSqsQueue({ client: aws.sqs, queueUrl: shipping.url, deadLetterQueueUrl: deadShipments }),
      handlers: [StockReserved, StockRejected].map((type) =>
        on(type, 'count-shipment', (event, ctx) => ctx.commit([countShipment(event.data.orderId, clock.now())])),
      ),
    }),
  })
  return {
    aws,
    consumer,
    queues: { client: aws.sqs, queueUrl: orders.url, deadLetterQueueUrl },
    placeOrder: createPlaceOrder({ outbox, shopTable: SHOP_TABLE }),
  }
}

export type Shop = Awaited<ReturnType<typeof openShop>>

/** Another team's consumer: counts how often each order's outcome reached it. */
function countShipment(orderId: string, at: number) {
  return {
    Update: {
      TableName: SHOP_TABLE,
      Key: { pk: `SHIPMENT#${orderId}` },
      UpdateExpression: 'SET orderId = :order, #at = if_not_exists(#at, :at) ADD times :one',
      ExpressionAttributeNames: { '#at': 'at' },
      ExpressionAttributeValues: { ':order': orderId, ':at': at, ':one': 1 },
    },
  }
}

async function createShopTable({ dynamo }: LocalAws): Promise<void> {
  await dynamo.send(
    new CreateTableCommand({
      TableName: SHOP_TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    }),
  )
}

/** Puts stock on the shelf. */
export async function stockUp({ dynamo }: LocalAws, stock: Readonly<Record<string, number>>): Promise<void> {
  for (const [sku, available] of Object.entries(stock)) {
    const Item = { pk: { S: `STOCK#${sku}` }, available: { N: String(available) } }
    await dynamo.send(new PutItemCommand({ TableName: SHOP_TABLE, Item }))
  }
}

/** How many rows of the outbox are pending or dead. */
export async function countUnrelayed({ dynamo, outboxTable }: LocalAws): Promise<number> {
  let count = 0
  let from: Record<string, never> | undefined
  do {
    const page = await dynamo.send(
      new ScanCommand({
        TableName: outboxTable,
        IndexName: 'pending',
        Select: 'COUNT',
        ...(from && { ExclusiveStartKey: from }),
      }),
    )
    count += page.Count ?? 0
    from = page.LastEvaluatedKey as Record<string, never> | undefined
  } while (from !== undefined)
  return count
}
