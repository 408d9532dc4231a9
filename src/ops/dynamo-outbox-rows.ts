import {
  type AttributeValue,
  BatchGetItemCommand,
  DescribeTableCommand,
  GetItemCommand,
  QueryCommand,
  ScanCommand,
} from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { jitter } from '../backoff.ts'
import { OutboxError } from '../errors.ts'
import type { RowKey } from '../outbox/row.ts'
import { itemKey } from '../outbox/row-queries.ts'
import { readHeartbeat } from '../relay/heartbeat.ts'
import { keyOf, numberOf } from '../relay/row-image.ts'
import { HEARTBEAT_PK, type Heartbeat } from '../relay/row-store.ts'
import { OUTBOX_TABLE } from '../tables.ts'
import { type RowSummary, SUMMARY_ATTRIBUTES, summarizeRow } from './row-summary.ts'
import type { OutboxRows } from './system.ts'

/** An entry of the index `pending`: of a row that is pending or dead. */
export type IndexedRow = RowKey & { readonly due: number; readonly created?: number; readonly type?: string }

/** `BatchGetItem` takes 100 keys. */
const KEYS_PER_READ = 100
const READ_TRIES = 6

type Item = Record<string, AttributeValue>

const PROJECTION = {
  ProjectionExpression: SUMMARY_ATTRIBUTES.map((name) => `#${name}`).join(', '),
  ExpressionAttributeNames: Object.fromEntries(SUMMARY_ATTRIBUTES.map((name) => [`#${name}`, name])),
}

/**
 * A shard of the index by `due`, page by page. Half a read unit for some 4 KB, about 30 rows. A moment behind the table:
 * a row that changed just now may be listed as it was. Throws errors of the AWS SDK as they are.
 */
export async function* indexedRows(
  { dynamo, outboxTable }: OutboxRows,
  shard: string,
): AsyncGenerator<readonly IndexedRow[]> {
  let from: Item | undefined
  do {
    const page = await dynamo.send(
      new QueryCommand({
        TableName: outboxTable,
        IndexName: OUTBOX_TABLE.index?.name,
        KeyConditionExpression: '#shard = :shard',
        ExpressionAttributeNames: { '#shard': 'shard' },
        ExpressionAttributeValues: { ':shard': { S: shard } },
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    )
    yield (page.Items ?? []).flatMap(indexedRow)
    from = page.LastEvaluatedKey
  } while (from !== undefined)
}

function indexedRow(item: Item): IndexedRow[] {
  const key = keyOf(item)
  const due = numberOf(item['due'])
  const created = numberOf(item['created'])
  const type = item['type']?.S
  if (key === undefined || due === undefined) return []
  return [{ ...key, due, ...(created === undefined ? {} : { created }), ...(type === undefined ? {} : { type }) }]
}

/** Consistent, without data: what is not there any more is left out. One request for 100 rows. */
export async function readSummaries(system: OutboxRows, keys: readonly RowKey[]): Promise<readonly RowSummary[]> {
  const found: RowSummary[] = []
  for (let at = 0; at < keys.length; at += KEYS_PER_READ)
    found.push(...(await readPage(system, keys.slice(at, at + KEYS_PER_READ))))
  return found
}

async function readPage(
  { dynamo, outboxTable, clock }: OutboxRows,
  keys: readonly RowKey[],
): Promise<readonly RowSummary[]> {
  const items: Item[] = []
  let asked: Item[] = keys.map(itemKey)
  for (let tries = 1; tries <= READ_TRIES; tries += 1) {
    const request = { Keys: asked, ConsistentRead: true, ...PROJECTION }
    const answer = await dynamo.send(new BatchGetItemCommand({ RequestItems: { [outboxTable]: request } }))
    items.push(...(answer.Responses?.[outboxTable] ?? []))
    asked = answer.UnprocessedKeys?.[outboxTable]?.Keys ?? []
    if (asked.length === 0) return items.flatMap(summaryOf)
    await clock.sleep(jitter(tries, clock.random))
  }
  throw new OutboxError(
    'UNAVAILABLE',
    `${asked.length} of ${keys.length} rows were still unprocessed after ${READ_TRIES} reads. Wait a little and run it again.`,
  )
}

/** One row with its body, consistently read. */
export async function readRow(
  { dynamo, outboxTable }: OutboxRows,
  key: RowKey,
): Promise<{ readonly summary: RowSummary; readonly body: string | undefined } | undefined> {
  const command = new GetItemCommand({ TableName: outboxTable, Key: itemKey(key), ConsistentRead: true })
  const { Item } = await dynamo.send(command)
  const [summary] = Item === undefined ? [] : summaryOf(Item)
  return summary === undefined ? undefined : { summary, body: Item?.['body']?.S }
}

/**
 * Every row of the table, by several segments side by side: in no order, but the rows of a group in theirs, one after the
 * other in one segment. `after`: goes on behind this row, which need not be there any more. Reads, and is
 * billed for, the whole table with its data: half a read unit for each 4 KB.
 */
export async function* scanRows(
  { dynamo, outboxTable }: OutboxRows,
  segment: { readonly index: number; readonly total: number; readonly after?: RowKey | undefined },
): AsyncGenerator<readonly RowSummary[]> {
  let from: Item | undefined = segment.after === undefined ? undefined : itemKey(segment.after)
  do {
    const page = await dynamo.send(
      new ScanCommand({
        TableName: outboxTable,
        Segment: segment.index,
        TotalSegments: segment.total,
        ...PROJECTION,
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    )
    yield (page.Items ?? []).flatMap(summaryOf)
    from = page.LastEvaluatedKey
  } while (from !== undefined)
}

/** By DynamoDB's own count, which may be six hours old. */
export async function readTableSize({ dynamo, outboxTable }: OutboxRows): Promise<{ rows: number; bytes: number }> {
  const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: outboxTable }))
  return { rows: Table?.ItemCount ?? 0, bytes: Table?.TableSizeBytes ?? 0 }
}

/** When the sweeper last ran in each Region, and what it found then. */
export async function readHeartbeats({
  dynamo,
  outboxTable,
}: OutboxRows): Promise<readonly (Heartbeat & { readonly region: string })[]> {
  const { Items = [] } = await dynamo.send(
    new QueryCommand({
      TableName: outboxTable,
      ConsistentRead: true,
      KeyConditionExpression: 'pk = :heartbeats',
      ExpressionAttributeValues: { ':heartbeats': { S: HEARTBEAT_PK } },
    }),
  )
  return Items.flatMap((item) => {
    const beat = readHeartbeat(item)
    return beat === undefined ? [] : [{ ...beat, region: item['sk']?.S ?? '' }]
  })
}

function summaryOf(item: Item): RowSummary[] {
  const { history } = item
  const summary = summarizeRow(item, history === undefined ? undefined : unmarshall({ history })['history'])
  return summary === undefined ? [] : [summary]
}
