import { type AttributeValue, CreateTableCommand, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { StockRejected, StockReserved } from '../../functions/sample/events.ts'
import { createPlaceOrder } from '../../functions/sample/place-order.ts'
import { on } from '../../src/consumer/index.ts'
import { createOutbox } from '../../src/index.ts'
import { createSqsPublisher } from '../../src/relay/index.ts'
import { type LocalAws, processFunction, startLocalAws } from '../../src/testing/index.ts'
import { spoil } from './chance.ts'
import { demoEnvironment } from './environment.ts'

/** Times real time: a retry cycle of ten minutes takes 25 s, on the unchanged schedule. */
export const SPEED = 25
export const SHOP_TABLE = 'shop'
/** Of the consumer: a process that is killed holds its groups up for that long. Milliseconds of the clock. */
const FUNCTION_MS = 100_000

export type ShopOptions = { readonly random: () => number; readonly killAfterMail: readonly string[] }

/** The sample shop on a local AWS: relay and sweeper here, the consumer in processes of its own. */
export async function openShop({ random, killAfterMail }: ShopOptions) {
  const aws = await startLocalAws({ speed: SPEED, onFunctionError: () => {} })
  const orders = await aws.createQueue('orders', { deadLetter: true, visibilityTimeoutSeconds: 900 })
  const shipping = await aws.createQueue('shipping', { deadLetter: true, visibilityTimeoutSeconds: 900 })
  const { clock } = aws
  await createShopTable(aws)

  const publisher = (queueUrl: string) => createSqsPublisher({ client: aws.sqs, queueUrl })
  const routes = [
    { type: ['order.placed', 'order.confirmation-requested'], to: publisher(orders.url) },
    { type: ['stock.reserved', 'stock.rejected'], to: publisher(shipping.url) },
  ]
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const faults = <Record>(records: Record[]) => spoil(records, random)
  await aws.startRelay({ routes, logger, mapping: { parallelization: 4, faults } })
  aws.startSweeper({ routes, logger })

  const deadLetterQueueUrl = orders.deadLetterUrl ?? ''
  const consumer = processFunction({
    module: new URL('./consumer-process.ts', import.meta.url),
    env: demoEnvironment({ shopTable: SHOP_TABLE, queueUrl: orders.url, deadLetterQueueUrl, killAfterMail }),
  })
  const mapping = { timeoutMs: FUNCTION_MS, maxConcurrency: 3 }
  aws.startConsumer({ queue: orders, consumer, mapping })
  aws.startConsumer({
    queue: shipping,
    mapping,
    logger,
    name: 'shipping',
    handlers: [StockReserved, StockRejected].map((type) =>
      on(type, 'count-shipment', (event, ctx) => ctx.commit([countShipment(event.data.orderId, clock.now())])),
    ),
  })

  const documentClient = DynamoDBDocumentClient.from(aws.dynamo)
  const outbox = createOutbox({ documentClient, tableName: aws.outboxTable, clock })
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
      Key: { pk: { S: `SHIPMENT#${orderId}` } },
      UpdateExpression: 'SET orderId = :order, #at = if_not_exists(#at, :at) ADD times :one',
      ExpressionAttributeNames: { '#at': 'at' },
      ExpressionAttributeValues: { ':order': { S: orderId }, ':at': { N: String(at) }, ':one': { N: '1' } },
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

/** How many effects there are, by counting them. */
export async function countEffects({ dynamo }: LocalAws): Promise<number> {
  const effects = ['RESERVATION#', 'MAIL#', 'SHIPMENT#']
  let count = 0
  let from: Record<string, AttributeValue> | undefined
  do {
    const page = await dynamo.send(
      new ScanCommand({
        TableName: SHOP_TABLE,
        Select: 'COUNT',
        FilterExpression: effects.map((_, n) => `begins_with(pk, :p${n})`).join(' OR '),
        ExpressionAttributeValues: Object.fromEntries(effects.map((prefix, n) => [`:p${n}`, { S: prefix }])),
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    )
    count += page.Count ?? 0
    from = page.LastEvaluatedKey
  } while (from !== undefined)
  return count
}
