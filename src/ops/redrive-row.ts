import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Clock, systemClock } from '../clock.ts'
import { ALL_DEAD_SHARDS } from '../outbox/row.ts'
import { checkClient, checkOptions, invalidSetting } from '../settings.ts'
import { redriveDeadRow } from './dynamo-row-changes.ts'
import { findInIndex } from './find-row.ts'

export type OutboxTable = {
  readonly client: DynamoDBClient
  readonly tableName: string
  /** Default: the machine's. */
  readonly clock?: Clock
}

/** What became of one row: moved now, or nothing there to move (unknown, relayed, or redriven by somebody already). */
export type RedriveRowResult = { readonly status: 'redriven' } | { readonly status: 'not-dead' }

/**
 * Makes a dead row pending again: the next sweep sends it under a new deduplication id, to the destinations that have not
 * accepted it yet; a row of pull workers goes back to them, with no claim spent. Its life stays, so handlers that are done
 * with it stay done. The id is the event's; of a foreign row, the one it is sent under. Nobody is recorded as having done
 * it: `redrive` does that.
 *
 * Costs one index query per dead shard (8), one read and one write for the row; an id that is not made of a dead row's key
 * takes reads of all dead rows. Safe to run twice and side by side: one of them moves the row. The index is a moment behind: a row that died just now may not be found
 * yet. Throws `INVALID_SETTING`, and errors of the AWS SDK as they are.
 */
export async function redriveRow(table: OutboxTable, id: string): Promise<RedriveRowResult> {
  checkOptions('redriveRow', table, ['client', 'tableName', 'clock'])
  const { client, tableName: outboxTable, clock = systemClock } = table
  checkClient('client', client, 'DynamoDB')
  if (typeof id !== 'string' || id === '') throw invalidSetting('id', 'must be the id of an event')
  const rows = { dynamo: client, outboxTable, clock }
  const row = await findInIndex(rows, ALL_DEAD_SHARDS, id)
  const isMoved = row?.state === 'dead' && (await redriveDeadRow(rows, row)) === 'written'
  return { status: isMoved ? 'redriven' : 'not-dead' }
}
