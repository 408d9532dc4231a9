import { type AttributeValue, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import type { StreamRecord } from '../../src/testing/lambda-events.ts'
import type { Clients } from './clients.ts'

/** Where a relay written by hand sends to and marks. */
export type Target = Clients & { readonly queueUrl: string; readonly tableName: string }

/** A relay written by hand, for one batch of a stream. */
export type HandRelay = (target: Target, records: readonly StreamRecord[]) => Promise<void>

type Row = { readonly pk: string; readonly sk: string; readonly body: string }

/** Unmarshals, sends ten at a time, and marks nothing: what it sent it forgets. */
export const bareSend: HandRelay = async (target, records) => {
  for (const rows of tens(records)) await sendRows(target, rows)
}

/** The usual relay: sends ten rows, then marks row by row. */
export const markEach: HandRelay = async (target, records) => {
  for (const rows of tens(records)) {
    await sendRows(target, rows)
    for (const row of rows) await markRow(target, row)
  }
}

/** The same, with the ten marks under way at once. */
export const markTen: HandRelay = async (target, records) => {
  for (const rows of tens(records)) {
    await sendRows(target, rows)
    await Promise.all(rows.map((row) => markRow(target, row)))
  }
}

function* tens(records: readonly StreamRecord[]): Generator<Row[]> {
  for (let at = 0; at < records.length; at += 10) yield records.slice(at, at + 10).map(rowOf)
}

function rowOf({ dynamodb }: StreamRecord): Row {
  return unmarshall(dynamodb.NewImage as Record<string, AttributeValue>) as Row
}

async function sendRows({ sqs, queueUrl }: Target, rows: readonly Row[]): Promise<void> {
  const Entries = rows.map(({ pk, sk, body }, n) => ({
    Id: String(n),
    MessageBody: body,
    MessageGroupId: pk,
    MessageDeduplicationId: `${pk}|${sk}`,
  }))
  const { Failed = [] } = await sqs.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }))
  if (Failed.length > 0) throw new Error(`${Failed.length} entries were refused`)
}

async function markRow({ dynamo, tableName }: Target, { pk, sk }: Row): Promise<void> {
  await dynamo.send(
    new UpdateItemCommand({
      TableName: tableName,
      Key: { pk: { S: pk }, sk: { S: sk } },
      UpdateExpression: 'SET #expires = :expires REMOVE #shard',
      ConditionExpression: 'attribute_exists(#shard)',
      ExpressionAttributeNames: { '#expires': 'expires', '#shard': 'shard' },
      ExpressionAttributeValues: { ':expires': { N: String(Math.floor(Date.now() / 1000) + 604_800) } },
    }),
  )
}
