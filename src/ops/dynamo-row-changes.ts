import { type AttributeValue, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'
import { errorName } from '../errors.ts'
import { encodeLifeNote, type LifeNote } from '../event/life.ts'
import { KEEP_RELAYED_SECONDS, waitingShard } from '../outbox/row.ts'
import { itemKey } from '../outbox/row-queries.ts'
import { type HistoryEntry, withEntry } from './history.ts'
import type { RowSummary } from './row-summary.ts'
import type { OutboxRows } from './system.ts'

/** `changed`: the row is not as it was read any more, so nothing was written. */
export type RowChange = 'written' | 'changed'

export type Replay = { readonly note: LifeNote; readonly entry: HistoryEntry }

type Change = { readonly set: Record<string, AttributeValue>; readonly remove: readonly string[] }

/*
 * Each of these is one write that holds only while the row has the shard and the round it was read with:
 *
 *     operator A   reads: dead, round 0 ──▶ pending, round 1
 *     operator B   reads: dead, round 0 ───────────▶ refused, the row is A's
 *     A's answer lost, its SDK tries again: refused too, and reported as changed; the row is pending all the same
 */

/**
 * Dead → pending, as the next round: sent under a new deduplication id, to those that have not accepted it. Keeps its life.
 * A row that pull workers have had goes back to them, with no claim spent. Without an entry nothing is recorded.
 */
export function redriveDeadRow(system: OutboxRows, row: RowSummary, entry?: HistoryEntry): Promise<RowChange> {
  const set = {
    ...nextRound(system, row),
    ...(entry === undefined ? {} : { history: historyOf(withEntry(row.history, entry)) }),
  }
  return change(system, row, { set, remove: ['expires'] })
}

/** Dead → relayed, without being sent. Keeps why it was dead; expires like any relayed row. */
export function discardDeadRow(system: OutboxRows, row: RowSummary, entry: HistoryEntry): Promise<RowChange> {
  const set = { expires: expiry(system), history: historyOf(withEntry(row.history, entry)) }
  return change(system, row, { set, remove: ['shard', 'due'] })
}

/**
 * Relayed → pending, as the next round and a later life of the handlers named: every destination gets it again. Refused if
 * somebody has replayed it meanwhile.
 */
export function replayRow(system: OutboxRows, row: RowSummary, { note, entry }: Replay): Promise<RowChange> {
  const set = {
    ...nextRound(system, row),
    note: { S: encodeLifeNote(note) },
    history: historyOf(withEntry(row.history, entry)),
  }
  return change(system, row, { set, remove: ['accepted', 'expires', 'token'] })
}

/**
 * Takes the data and every text about it out of a row, for good; a row that was not relayed will not be sent. The key
 * stays while the row is kept: the same key with any data is a conflict until then, and no `auto` number is given twice.
 */
export function forgetRow(system: OutboxRows, row: RowSummary, entry: HistoryEntry): Promise<RowChange> {
  const set = {
    forgotten: { N: String(entry.at) },
    expires: row.expires === undefined ? expiry(system) : { N: String(row.expires) },
    history: historyOf([entry]),
  }
  return change(system, row, { set, remove: ['body', 'failure', 'accepted', 'shard', 'due'] })
}

async function change(
  { dynamo, outboxTable }: OutboxRows,
  row: RowSummary,
  { set, remove }: Change,
): Promise<RowChange> {
  const names = [...new Set([...Object.keys(set), ...remove, 'shard', 'redrives'])]
  const guards = [
    row.shard === undefined ? 'attribute_not_exists(#shard)' : '#shard = :wasIn',
    row.redrives === 0 ? '(attribute_not_exists(#redrives) OR #redrives = :round)' : '#redrives = :round',
  ]
  const command = new UpdateItemCommand({
    TableName: outboxTable,
    Key: itemKey(row),
    UpdateExpression: `SET ${Object.keys(set)
      .map((name) => `#${name} = :${name}`)
      .join(', ')} REMOVE ${remove.map((name) => `#${name}`).join(', ')}`,
    ConditionExpression: `attribute_exists(pk) AND ${guards.join(' AND ')}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: {
      ...Object.fromEntries(Object.entries(set).map(([name, value]) => [`:${name}`, value])),
      ':round': { N: String(row.redrives) },
      ...(row.shard === undefined ? {} : { ':wasIn': { S: row.shard } }),
    },
  })
  try {
    await dynamo.send(command)
    return 'written'
  } catch (error) {
    if (errorName(error) === 'ConditionalCheckFailedException') return 'changed'
    throw error
  }
}

/** Waiting again from now on, under a new deduplication id; for pull workers with no claim spent. */
function nextRound({ clock }: OutboxRows, row: RowSummary): Record<string, AttributeValue> {
  return {
    shard: { S: waitingShard(row) },
    due: { N: String(clock.now()) },
    redrives: { N: String(row.redrives + 1) },
    ...(row.claims === undefined ? {} : { claims: { N: '0' } }),
  }
}

function expiry({ clock }: OutboxRows): AttributeValue {
  return { N: String(Math.floor(clock.now() / 1000) + KEEP_RELAYED_SECONDS) }
}

function historyOf(entries: readonly HistoryEntry[]): AttributeValue {
  return { L: entries.map((entry) => ({ M: marshall(entry) })) }
}
