import { UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { StreamRecord } from '../../src/testing/lambda-events.ts'
import type { Clients } from './clients.ts'

/** Where a relay written by hand sends to and marks. */
export type Target = Clients & { readonly queueUrl: string; readonly tableName: string }

type Row = { readonly pk: string; readonly sk: string; readonly body: string }

/** Requests under way at once, as many as our relay has. */
const CONCURRENCY = 10

/** A relay that unmarshals and sends, and marks nothing: what it sent it forgets. */
export async function bareSend(target: Target, records: readonly StreamRecord[]): Promise<void> {
  await eachTen(rowsOf(records), (rows) => sendRows(target, rows))
}

/** The usual relay: sends ten rows, then marks each of them with a request of its own. */
export async function sendAndMarkRows(target: Target, records: readonly StreamRecord[]): Promise<void> {
  const expires = Math.floor(Date.now() / 1000) + 7 * 86_400
  await eachTen(rowsOf(records), async (rows) => {
    await sendRows(target, rows)
    await Promise.all(rows.map((row) => markRow(target, row, expires)))
  })
}

function rowsOf(records: readonly StreamRecord[]): Row[] {
  return records.map(({ dynamodb }) => unmarshall(dynamodb.NewImage as Parameters<typeof unmarshall>[0]) as Row)
}

async function sendRows({ sqs, queueUrl }: Target, rows: readonly Row[]): Promise<void> {
  const Entries = rows.map(({ pk, body }, n) => ({
    Id: String(n),
    MessageBody: body,
    MessageGroupId: pk,
    MessageDeduplicationId: pk,
  }))
  const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }))
  if (Failed.length > 0) throw new Error(`${Failed.length} entries were refused`)
}

async function markRow({ dynamo, tableName }: Target, { pk, sk }: Row, expires: number): Promise<void> {
  await dynamo.send(
    new UpdateItemCommand({
      TableName: tableName,
      Key: { pk: { S: pk }, sk: { S: sk } },
      UpdateExpression: 'SET #expires = :expires REMOVE #shard',
      ConditionExpression: 'attribute_exists(#shard)',
      ExpressionAttributeNames: { '#expires': 'expires', '#shard': 'shard' },
      ExpressionAttributeValues: { ':expires': { N: String(expires) } },
    }),
  )
}

/** Ten at a time, ten requests at once. */
async function eachTen<Item>(items: readonly Item[], handle: (ten: readonly Item[]) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const ten = items.slice(next, next + 10)
      next += 10
      await handle(ten)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, lane))
}
