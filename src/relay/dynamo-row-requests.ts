import type {
  AttributeValue,
  BatchExecuteStatementCommandInput,
  QueryCommandInput,
  UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import type { RowKey } from '../outbox/row.ts'
import { itemKey, shardQuery } from '../outbox/row-queries.ts'
import { type Burial, type Guard, HEARTBEAT_PK, type Heartbeat, type Mark } from './row-store.ts'

/** The inputs of every request of the row store that is its own, as plain data. Names are always aliased: many are reserved words. */

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

export function countQuery(tableName: string, shard: string): QueryCommandInput {
  return { ...shardQuery(tableName, shard), Select: 'COUNT' }
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
