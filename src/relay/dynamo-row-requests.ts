import type {
  AttributeValue,
  BatchExecuteStatementCommandInput,
  QueryCommandInput,
  TransactGetItemsCommandInput,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import type { RowKey } from '../outbox/row.ts'
import { OUTBOX_TABLE } from '../tables.ts'
import {
  type Burial,
  type GroupRange,
  type Guard,
  HEARTBEAT_PK,
  type Heartbeat,
  type IndexRange,
  type Mark,
  type PairKeys,
} from './row-store.ts'

/** The inputs of every request of the row store, as plain data. Names are always aliased: many are reserved words. */

const FIRST = '0'.repeat(16)
const LAST = '9'.repeat(16)

/** Only sort keys of 16 digits: whatever else somebody put under a group's key is not read. */
export function groupQuery(tableName: string, range: GroupRange): QueryCommandInput {
  return {
    TableName: tableName,
    ConsistentRead: true,
    KeyConditionExpression: '#pk = :pk AND #sk BETWEEN :from AND :to',
    ExpressionAttributeNames: { '#pk': 'pk', '#sk': 'sk', ...(range.bare ? { '#shard': 'shard' } : {}) },
    ExpressionAttributeValues: {
      ':pk': { S: range.pk },
      ':from': { S: range.from ?? FIRST },
      ':to': { S: range.to ?? LAST },
    },
    ScanIndexForward: range.descending !== true,
    Limit: range.limit,
    ...(range.bare ? { ProjectionExpression: '#pk, #sk, #shard' } : {}),
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

/**
 * Relay path and sweeper may both have sent a row, and an operator may have redriven it meanwhile:
 *
 *     relay:    read (redrives 0) ── send ─────────────────────────────── mark: refused, redrives is 1
 *     sweeper:             read ── send ── refused ── dead-letter
 *     operator:                                            redrive
 *
 * so a mark lands only on the very shard and round that was read. One assignment and one removed path: the form that
 * every engine takes.
 */
export function markStatements(tableName: string, marks: readonly Mark[]): BatchExecuteStatementCommandInput {
  return {
    Statements: marks.map(({ pk, sk, shard, redrives, redrivesStored, expires }) => ({
      Statement:
        `UPDATE "${tableName}" SET "expires" = ? REMOVE "shard" WHERE "pk" = ? AND "sk" = ? AND "shard" = ? AND ` +
        (redrivesStored ? '"redrives" = ?' : '"redrives" IS MISSING'),
      Parameters: [
        { N: String(expires) },
        { S: pk },
        { S: sk },
        { S: shard },
        ...(redrivesStored ? [{ N: String(redrives) }] : []),
      ],
    })),
  }
}

/** Same race as a mark's: what one destination took in an earlier round says nothing of this one. */
export function acceptUpdate(tableName: string, guard: Guard, destinations: readonly string[]): UpdateItemCommandInput {
  return guarded(tableName, guard, {
    update: 'ADD #accepted :accepted',
    names: { '#accepted': 'accepted' },
    values: { ':accepted': { SS: [...destinations] } },
  })
}

/**
 *     sweeper A: read ── send: refused ──────────────── dead-letter: refused, another round
 *     sweeper B: read ── send: refused ── dead-letter
 *     operator:                                redrive
 *
 * A row may be moved to the dead only from the round whose content was refused. It never expires there.
 */
export function deadLetterUpdate(tableName: string, guard: Guard, burial: Burial): UpdateItemCommandInput {
  const { shard, reason, at, accepted } = burial
  const set =
    'SET #shard = :dead, #failure = :reason, #due = if_not_exists(#due, :at), #created = if_not_exists(#created, :at)'
  const names = { '#failure': 'failure', '#due': 'due', '#created': 'created', '#expires': 'expires' }
  const values = { ':dead': { S: shard }, ':reason': { S: reason }, ':at': { N: String(at) } }
  if (accepted.length === 0) return guarded(tableName, guard, { update: `${set} REMOVE #expires`, names, values })
  return guarded(tableName, guard, {
    update: `${set} REMOVE #expires ADD #accepted :accepted`,
    names: { ...names, '#accepted': 'accepted' },
    values: { ...values, ':accepted': { SS: [...accepted] } },
  })
}

/** A relay that marks the row meanwhile wins: then there is no `shard` any more, and nothing to list. */
export function listUpdate(
  tableName: string,
  row: RowKey & { readonly shard: string },
  due: number,
): UpdateItemCommandInput {
  const input = guarded(tableName, row, {
    update: 'SET #due = :due, #created = if_not_exists(#created, :due)',
    names: { '#due': 'due', '#created': 'created' },
    values: { ':due': { N: String(due) } },
  })
  return { ...input, ConditionExpression: `${input.ConditionExpression} AND attribute_not_exists(#due)` }
}

export function indexQuery(tableName: string, { shard, limit, after, latestBeyond }: IndexRange): QueryCommandInput {
  const beyond = latestBeyond === undefined ? {} : { ':beyond': { N: String(latestBeyond) } }
  return {
    ...shardQuery(tableName, shard),
    KeyConditionExpression: latestBeyond === undefined ? '#shard = :shard' : '#shard = :shard AND #due > :beyond',
    ExpressionAttributeNames: { '#shard': 'shard', ...(latestBeyond === undefined ? {} : { '#due': 'due' }) },
    ExpressionAttributeValues: { ':shard': { S: shard }, ...beyond },
    ScanIndexForward: latestBeyond === undefined,
    Limit: limit,
    ...(after === undefined
      ? {}
      : { ExclusiveStartKey: { ...itemKey(after), shard: { S: shard }, due: { N: String(after.due) } } }),
  }
}

export function countQuery(tableName: string, shard: string): QueryCommandInput {
  return { ...shardQuery(tableName, shard), Select: 'COUNT' }
}

function shardQuery(tableName: string, shard: string): QueryCommandInput {
  return {
    TableName: tableName,
    IndexName: OUTBOX_TABLE.index?.name,
    KeyConditionExpression: '#shard = :shard',
    ExpressionAttributeNames: { '#shard': 'shard' },
    ExpressionAttributeValues: { ':shard': { S: shard } },
  }
}

/** Unconditional: the last one to write was the last one to run. Counts of dead rows stay until counted anew. */
export function heartbeatUpdate(tableName: string, region: string, beat: Heartbeat): UpdateItemCommandInput {
  const fields = Object.entries(beat).filter((field): field is [string, number] => field[1] !== undefined)
  return {
    TableName: tableName,
    Key: itemKey(heartbeatKey(region)),
    UpdateExpression: `SET ${fields.map(([name]) => `#${name} = :${name}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(fields.map(([name]) => [`#${name}`, name])),
    ExpressionAttributeValues: Object.fromEntries(fields.map(([name, value]) => [`:${name}`, { N: String(value) }])),
  }
}

export function heartbeatKey(region: string): RowKey {
  return { pk: HEARTBEAT_PK, sk: region }
}

export function itemKey({ pk, sk }: RowKey): { pk: { S: string }; sk: { S: string } } {
  return { pk: { S: pk }, sk: { S: sk } }
}

function guarded(
  tableName: string,
  guard: Guard,
  change: { update: string; names: Record<string, string>; values: Record<string, AttributeValue> },
): UpdateItemCommandInput {
  const { condition, values } = round(guard.redrives)
  return {
    TableName: tableName,
    Key: itemKey(guard),
    UpdateExpression: change.update,
    ConditionExpression: `#shard = :shard${condition}`,
    ExpressionAttributeNames: {
      '#shard': 'shard',
      ...(condition === '' ? {} : { '#redrives': 'redrives' }),
      ...change.names,
    },
    ExpressionAttributeValues: { ':shard': { S: guard.shard }, ...values, ...change.values },
  }
}

function round(redrives: number | undefined): { condition: string; values: Record<string, AttributeValue> } {
  if (redrives === undefined) return { condition: '', values: {} }
  const missing = redrives === 0 ? 'attribute_not_exists(#redrives) OR ' : ''
  return { condition: ` AND (${missing}#redrives = :redrives)`, values: { ':redrives': { N: String(redrives) } } }
}
