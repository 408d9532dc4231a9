import type { QueryCommandInput, TransactGetItemsCommandInput } from '@aws-sdk/client-dynamodb'
import { OUTBOX_TABLE } from '../tables.ts'
import type { RowKey } from './row.ts'

/** Inputs of the reads that whoever delivers rows needs, as plain data. Names are always aliased: many are reserved words. */

/** Rows of one group. */
export type GroupRange = {
  readonly pk: string
  /** Lowest sort key, inclusive. */
  readonly from?: string
  /** Highest sort key, inclusive. */
  readonly to?: string
  readonly descending?: boolean
  readonly limit: number
  /** Keys, state and note only. */
  readonly bare?: boolean
}

/** A row of a group, and the sort key right before its own. */
export type PairKeys = { readonly pk: string; readonly before: string; readonly sk: string }

/** Entries of one shard, by `due`. */
export type IndexRange = {
  readonly shard: string
  readonly limit: number
  /** Goes on after this entry. */
  readonly after?: IndexEntry
  /** Only entries with a later `due` (ms), latest first. */
  readonly latestBeyond?: number
}

export type IndexEntry = RowKey & {
  /** ms */
  readonly due: number
  /** ms */
  readonly created?: number
}

const FIRST = '0'.repeat(16)
const LAST = '9'.repeat(16)

/** Only sort keys of 16 digits: whatever else somebody put under a group's key is not read. */
export function groupQuery(tableName: string, range: GroupRange): QueryCommandInput {
  return {
    TableName: tableName,
    ConsistentRead: true,
    KeyConditionExpression: '#pk = :pk AND #sk BETWEEN :from AND :to',
    ExpressionAttributeNames: {
      '#pk': 'pk',
      '#sk': 'sk',
      ...(range.bare ? { '#shard': 'shard', '#note': 'note' } : {}),
    },
    ExpressionAttributeValues: {
      ':pk': { S: range.pk },
      ':from': { S: range.from ?? FIRST },
      ':to': { S: range.to ?? LAST },
    },
    ScanIndexForward: range.descending !== true,
    Limit: range.limit,
    ...(range.bare ? { ProjectionExpression: '#pk, #sk, #shard, #note' } : {}),
  }
}

export function pairRead(tableName: string, { pk, before, sk }: PairKeys): TransactGetItemsCommandInput {
  const get = (key: RowKey) => ({
    Get: {
      TableName: tableName,
      Key: itemKey(key),
      ProjectionExpression: '#sk',
      ExpressionAttributeNames: { '#sk': 'sk' },
    },
  })
  return { TransactItems: [get({ pk, sk: before }), get({ pk, sk })] }
}

export function indexQuery(tableName: string, { shard, limit, after, latestBeyond }: IndexRange): QueryCommandInput {
  const beyond =
    latestBeyond === undefined
      ? {}
      : {
          KeyConditionExpression: '#shard = :shard AND #due > :beyond',
          ExpressionAttributeNames: { '#shard': 'shard', '#due': 'due' },
          ExpressionAttributeValues: { ':shard': { S: shard }, ':beyond': { N: String(latestBeyond) } },
        }
  return {
    ...shardQuery(tableName, shard),
    ...beyond,
    ScanIndexForward: latestBeyond === undefined,
    Limit: limit,
    ...(after === undefined
      ? {}
      : { ExclusiveStartKey: { ...itemKey(after), shard: { S: shard }, due: { N: String(after.due) } } }),
  }
}

/** All of a shard of the index. */
export function shardQuery(tableName: string, shard: string): QueryCommandInput {
  return {
    TableName: tableName,
    IndexName: OUTBOX_TABLE.index?.name,
    KeyConditionExpression: '#shard = :shard',
    ExpressionAttributeNames: { '#shard': 'shard' },
    ExpressionAttributeValues: { ':shard': { S: shard } },
  }
}

export function itemKey({ pk, sk }: RowKey): { pk: { S: string }; sk: { S: string } } {
  return { pk: { S: pk }, sk: { S: sk } }
}
