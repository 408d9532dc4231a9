import {
  type AttributeValue,
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { type Clock, systemClock } from '../clock.ts'
import { errorName } from '../errors.ts'
import { eventId } from '../event/identity.ts'
import { ALL_DEAD_SHARDS, identityOf, type RowKey, waitingShard } from '../outbox/row.ts'
import { itemKey } from '../outbox/row-queries.ts'
import { foreignId } from '../relay/row-image.ts'
import { checkClient, checkOptions, invalidSetting } from '../settings.ts'
import { OUTBOX_TABLE } from '../tables.ts'

export type OutboxTable = {
  readonly client: DynamoDBClient
  readonly tableName: string
  /** Default: the machine's. */
  readonly clock?: Clock
}

/** What became of one row: moved now, or nothing there to move (unknown, relayed, or redriven by somebody already). */
export type RedriveRowResult = { readonly status: 'redriven' } | { readonly status: 'not-dead' }

/**
 * Makes a dead row pending again: the next sweep sends it under a new deduplication id, to the destinations that have
 * not accepted it yet; a row of pull workers goes back to them, with no claim spent. Its life stays, so handlers that are done with it stay done. The id is the event's; of a foreign
 * row, the one it is sent under.
 *
 * Costs one index query per dead shard (8), one read per dead foreign row, one more and one write for the row. Safe to run twice and side by
 * side: one of them moves the row. The index is a moment behind: a row that died just now may not be found yet. Throws
 * `INVALID_SETTING`, and errors of the AWS SDK as they are.
 */
export async function redriveRow(table: OutboxTable, id: string): Promise<RedriveRowResult> {
  checkOptions('redriveRow', table, ['client', 'tableName', 'clock'])
  checkClient('client', table.client, 'DynamoDB')
  if (typeof id !== 'string' || id === '') throw invalidSetting('id', 'must be the id of an event')
  for (const shard of ALL_DEAD_SHARDS) {
    for await (const key of deadKeys(table, shard)) {
      if ((await rowId(table, key)) === id) return moveToPending(table, key, shard)
    }
  }
  return { status: 'not-dead' }
}

async function rowId({ client, tableName }: OutboxTable, key: RowKey): Promise<string> {
  const identity = identityOf(key)
  if (identity !== undefined) return eventId(identity)
  const { Item = {} } = await client.send(
    new GetItemCommand({ TableName: tableName, Key: itemKey(key), ProjectionExpression: 'id' }),
  )
  return foreignId(Item['id'], key).id
}

async function* deadKeys({ client, tableName }: OutboxTable, shard: string): AsyncGenerator<RowKey> {
  let from: Record<string, AttributeValue> | undefined
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: tableName,
        IndexName: OUTBOX_TABLE.index?.name,
        KeyConditionExpression: '#shard = :shard',
        ExpressionAttributeNames: { '#shard': 'shard' },
        ExpressionAttributeValues: { ':shard': { S: shard } },
        ProjectionExpression: 'pk, sk',
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    )
    for (const { pk, sk } of page.Items ?? []) {
      if (pk?.S !== undefined && sk?.S !== undefined) yield { pk: pk.S, sk: sk.S }
    }
    from = page.LastEvaluatedKey
  } while (from !== undefined)
}

/*
 * operator A   reads: dead ──▶ update if still dead ──▶ pending, redrives + 1
 * operator B   reads: dead ───────────▶ update if still dead: refused, the row is A's
 * A's answer lost, its SDK tries again: refused too, and reported as not dead; the row is pending all the same.
 */
async function moveToPending(
  { client, tableName, clock = systemClock }: OutboxTable,
  key: RowKey,
  shard: string,
): Promise<RedriveRowResult> {
  const claims = await claimsOf({ client, tableName }, key)
  const unspent = claims === undefined ? '' : ', claims = :zero'
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: itemKey(key),
        UpdateExpression: `SET #shard = :pending, due = :now${unspent} ADD redrives :one REMOVE expires`,
        ConditionExpression: '#shard = :dead',
        ExpressionAttributeNames: { '#shard': 'shard' },
        ExpressionAttributeValues: {
          ':pending': { S: waitingShard({ ...key, claims }) },
          ':dead': { S: shard },
          ':now': { N: String(clock.now()) },
          ':one': { N: '1' },
          ...(claims === undefined ? {} : { ':zero': { N: '0' } }),
        },
      }),
    )
    return { status: 'redriven' }
  } catch (error) {
    if (errorName(error) === 'ConditionalCheckFailedException') return { status: 'not-dead' }
    throw error
  }
}

/** Claims of pull workers, to whom the row goes back; undefined for a relay's. It never changes while the row is dead. */
async function claimsOf({ client, tableName }: OutboxTable, key: RowKey): Promise<number | undefined> {
  const command = new GetItemCommand({ TableName: tableName, Key: itemKey(key), ProjectionExpression: 'claims' })
  const { Item } = await client.send(command)
  return Item?.['claims']?.N === undefined ? undefined : Number(Item['claims'].N)
}
