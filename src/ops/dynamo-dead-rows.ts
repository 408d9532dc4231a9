import { type DynamoDBClient, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import type { Clock } from '../clock.ts'
import { errorName } from '../errors.ts'
import { eventId, sha256 } from '../event/identity.ts'
import { ALL_DEAD_SHARDS, identityOf, pendingShard, type RowKey } from '../outbox/row.ts'
import { OUTBOX_TABLE } from '../tables.ts'

export type OutboxTable = { readonly client: DynamoDBClient; readonly tableName: string; readonly clock: Clock }

/** What became of one row: moved now, or nothing there to move (unknown, relayed, or redriven by somebody already). */
export type RedriveRowResult = { readonly status: 'redriven' } | { readonly status: 'not-dead' }

/**
 * Makes a dead row pending again: the next sweep sends it under a new deduplication id, to the destinations that have
 * not accepted it yet. Its life stays, so handlers that are done with it stay done.
 *
 * Costs one index query per dead shard (8), and one write. Safe to run twice and side by side: one of them moves the row.
 */
export async function redriveRow(table: OutboxTable, id: string): Promise<RedriveRowResult> {
  for (const shard of ALL_DEAD_SHARDS) {
    for await (const key of deadKeys(table, shard)) {
      if (rowId(key) === id) return moveToPending(table, key, shard)
    }
  }
  return { status: 'not-dead' }
}

/** Event id of a row of ours; the derived deduplication id of a foreign one. */
function rowId(key: RowKey): string {
  const identity = identityOf(key)
  return identity === undefined ? sha256(`${key.pk}|${key.sk}`) : eventId(identity)
}

async function* deadKeys({ client, tableName }: OutboxTable, shard: string): AsyncGenerator<RowKey> {
  let from: Record<string, never> | undefined
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
    from = page.LastEvaluatedKey as Record<string, never> | undefined
  } while (from !== undefined)
}

/*
 * operator A   reads: dead ──▶ update if still dead ──▶ pending, redrives + 1
 * operator B   reads: dead ───────────▶ update if still dead: refused, the row is A's
 * A's answer lost, its SDK tries again: refused too, and reported as not dead; the row is pending all the same.
 */
async function moveToPending(
  { client, tableName, clock }: OutboxTable,
  { pk, sk }: RowKey,
  shard: string,
): Promise<RedriveRowResult> {
  try {
    await client.send(
      new UpdateItemCommand({
        TableName: tableName,
        Key: { pk: { S: pk }, sk: { S: sk } },
        UpdateExpression: 'SET #shard = :pending, due = :now ADD redrives :one REMOVE expires',
        ConditionExpression: '#shard = :dead',
        ExpressionAttributeNames: { '#shard': 'shard' },
        ExpressionAttributeValues: {
          ':pending': { S: pendingShard({ pk, sk }) },
          ':dead': { S: shard },
          ':now': { N: String(clock.now()) },
          ':one': { N: '1' },
        },
      }),
    )
    return { status: 'redriven' }
  } catch (error) {
    if (errorName(error) === 'ConditionalCheckFailedException') return { status: 'not-dead' }
    throw error
  }
}
