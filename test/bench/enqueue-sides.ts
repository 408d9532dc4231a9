import { createHash, randomUUID } from 'node:crypto'
import { type DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'
import { createOutbox } from '../../src/index.ts'
import { REGION } from './clients.ts'
import { TABLE } from './stub.ts'

/** Commits one order and its event, in one transaction. */
export type Enqueue = (orderId: string) => Promise<void>

const ORDERS = 'bench-orders'
const SOURCE = 'shop'
const TYPE = 'order.placed'
const NOTE = 'x'.repeat(200)

const order = (orderId: string) => ({
  Put: { TableName: ORDERS, Item: { pk: { S: orderId }, total: { N: '42.5' }, note: { S: NOTE } } },
})
const dataOf = (orderId: string) => ({ orderId, customerId: 'customer-42', total: 42.5, note: NOTE })

export function ourEnqueue(client: DynamoDBClient): Enqueue {
  const outbox = createOutbox({ client, tableName: TABLE })
  return async (orderId) => {
    const event = { source: SOURCE, key: orderId, type: TYPE, data: dataOf(orderId) }
    const { duplicate } = await outbox.transact({ writes: [order(orderId)], events: [event] })
    if (duplicate) throw new Error('not written')
  }
}

/** The same two items as somebody writes them who trusts his data: no check, no retry, no look at a lost answer. */
export function bareEnqueue(client: DynamoDBClient): Enqueue {
  return async (orderId) => {
    const id = sha256(`${SOURCE}/${orderId}`)
    const created = Date.now()
    const body = JSON.stringify({
      specversion: '1.0',
      id,
      source: SOURCE,
      type: TYPE,
      subject: orderId,
      time: new Date(created).toISOString(),
      datacontenttype: 'application/json',
      life: String(created),
      data: dataOf(orderId),
    })
    const row = {
      pk: { S: `K#${SOURCE}/${orderId}` },
      sk: { S: '-' },
      v: { N: '1' },
      region: { S: REGION },
      type: { S: TYPE },
      body: { S: body },
      created: { N: String(created) },
      instance: { S: randomUUID().slice(-12) },
      shard: { S: `p#${String(Number.parseInt(sha256(id).slice(0, 8), 16) % 64).padStart(2, '0')}` },
      due: { N: String(created + 120_000) },
    }
    const event = {
      Put: {
        TableName: TABLE,
        Item: row,
        ConditionExpression: 'attribute_not_exists(pk)',
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      },
    }
    await client.send(
      new TransactWriteItemsCommand({ TransactItems: [order(orderId), event], ClientRequestToken: randomUUID() }),
    )
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
