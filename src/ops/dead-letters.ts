import type { Message } from '@aws-sdk/client-sqs'
import { ALL_DEAD_SHARDS, type RowKey } from '../outbox/row.ts'
import { eachAtOnce } from '../pool.ts'
import { readDeadLetter } from './dead-letter.ts'
import { indexedRows, readSummaries } from './dynamo-outbox-rows.ts'
import { type DeadGroup, type DeadItem, groupDeadLetters } from './group-dead-letters.ts'
import type { RowSummary } from './row-summary.ts'
import { type CheckedSystem, checkSystem, deadLetterQueues, type OutboxSystem } from './system.ts'
import { walkDeadLetters } from './walk-dead-letters.ts'

export type Watch = {
  /** Ends the work between two requests; what was done stays done. */
  readonly signal?: AbortSignal
  /** Called with how many were seen so far. */
  readonly onProgress?: (seen: number) => void
}

export type DeadLetters = {
  readonly items: readonly DeadItem[]
  readonly groups: readonly DeadGroup[]
  /** Messages that stand behind ten of their group, where SQS does not show them. */
  readonly hidden: number
}

const SHARDS_AT_ONCE = 4

/**
 * Every dead row and every message of the dead-letter queues, in one list, and grouped by handler and kind of failure.
 * Changes nothing: messages are hidden from others while the list is made (at most 120 s) and shown again at its end.
 *
 * Costs one query for each of 8 shards, a read for each dead row, and three requests for ten messages. Throws
 * `INVALID_SETTING`, and errors of the AWS SDK as they are.
 */
export async function listDeadLetters(system: OutboxSystem, watch: Watch = {}): Promise<DeadLetters> {
  const checked = checkSystem('listDeadLetters', system)
  const items: DeadItem[] = []
  let hidden = 0
  const found = (more: readonly DeadItem[]): void => {
    items.push(...more)
    watch.onProgress?.(items.length)
  }
  await eachDeadRow(checked, async (rows) => found(rows.map(rowItem)), watch.signal)
  for (const queue of deadLetterQueues(checked)) {
    const visit = async (messages: readonly Message[]): Promise<readonly Message[]> => {
      found(messages.flatMap((message) => messageItems(message, queue.deadLetterQueueUrl)))
      return []
    }
    hidden += (await walkDeadLetters(queue, visit, watch.signal)).hidden
  }
  return { items, groups: groupDeadLetters(items), hidden }
}

/** Reads the dead rows, a page of one shard at a time, each page in the order of groups and numbers. */
export async function eachDeadRow(
  system: CheckedSystem,
  visit: (rows: readonly RowSummary[]) => Promise<void>,
  signal?: AbortSignal,
): Promise<void> {
  const readShard = async (shard: string): Promise<void> => {
    for (const key of await wholeShard(system, shard, signal)) keys.push(key)
  }
  const keys: RowKey[] = []
  await eachAtOnce(ALL_DEAD_SHARDS, SHARDS_AT_ONCE, readShard)
  keys.sort(byGroupAndNumber)
  for (let at = 0; at < keys.length && !signal?.aborted; at += 100) {
    const rows = await readSummaries(system, keys.slice(at, at + 100))
    await visit(rows.filter(({ state }) => state === 'dead').sort(byGroupAndNumber))
  }
}

/** Keys alone: the whole shard is known before anything in it is moved. */
async function wholeShard(system: CheckedSystem, shard: string, signal?: AbortSignal): Promise<readonly RowKey[]> {
  const keys: RowKey[] = []
  for await (const rows of indexedRows(system, shard)) {
    keys.push(...rows.map(({ pk, sk }) => ({ pk, sk })))
    if (signal?.aborted) break
  }
  return keys
}

function byGroupAndNumber(a: RowKey, b: RowKey): number {
  if (a.pk === b.pk) return a.sk < b.sk ? -1 : Number(a.sk > b.sk)
  return a.pk < b.pk ? -1 : 1
}

export function rowItem(row: RowSummary): DeadItem {
  const { id, failure = 'no reason stored', created = 0, type } = row
  return {
    where: 'row',
    id,
    handler: gaveUp(row),
    reason: failure,
    since: created,
    ...(type === undefined ? {} : { type }),
  }
}

/** Who gave a dead row up: the relay, or of pull workers a handler (of several, the first), or a loop of their own. */
function gaveUp({ claims, note }: RowSummary): string {
  return claims === undefined ? 'relay' : (note?.handlers[0] ?? 'pull')
}

/** One for each handler that the message concerns. */
export function messageItems(message: Message, queueUrl: string): DeadItem[] {
  const { id, handlers, reason, since = 0, attempts, type } = readDeadLetter(message)
  const names = handlers.length === 0 ? ['sqs'] : handlers
  return names.map((handler) => ({
    where: 'message',
    id,
    handler,
    reason: reason ?? 'moved by SQS after too many receives',
    since,
    queueUrl,
    ...(attempts === undefined ? {} : { attempts }),
    ...(type === undefined ? {} : { type }),
  }))
}
