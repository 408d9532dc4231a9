import { ALL_DEAD_SHARDS, ALL_PENDING_SHARDS, GRACE_MS, pullShards } from '../outbox/row.ts'
import { eachAtOnce } from '../pool.ts'
import type { Heartbeat } from '../relay/row-store.ts'
import { type IndexedRow, indexedRows, readHeartbeats } from './dynamo-outbox-rows.ts'
import { type QueueDepth, readQueueDepth } from './sqs-queue-depth.ts'
import { type CheckedSystem, checkSystem, type OutboxSystem } from './system.ts'

/** Rows of the index, as far as they were counted. */
export type RowCount = {
  readonly count: number
  /** There are more than were counted. */
  readonly capped: boolean
  /** ms since the oldest of them was created; absent without any. */
  readonly oldestMs?: number
}

export type OutboxStatus = {
  /** ms */
  readonly at: number
  readonly pending: RowCount
  /** Waiting for pull workers, by each source that is named. */
  readonly pull: readonly (RowCount & { readonly source: string })[]
  readonly dead: RowCount
  /** Of each Region that has a sweeper: `agoMs` since its last run began. Empty: no sweeper has ever run. */
  readonly sweepers: readonly (Heartbeat & { readonly region: string; readonly agoMs: number })[]
  readonly consumers: readonly {
    readonly name: string
    readonly queue: QueueDepth
    readonly deadLetters: QueueDepth
  }[]
}

/** Pages of one shard that are counted: some 5 MB, 25,000 rows. */
const PAGES_PER_SHARD = 5
const SHARDS_AT_ONCE = 16

/**
 * How an outbox stands: counted, not estimated, for rows; approximate for queues, as SQS counts. Costs one query for each of
 * 72 shards while few rows are pending, of 8 more for each source of pull workers, and two requests a consumer. Throws `INVALID_SETTING`, and errors of DynamoDB as
 * they are; a queue that cannot be read says so in its place.
 */
export async function readStatus(system: OutboxSystem): Promise<OutboxStatus> {
  const checked = checkSystem('readStatus', system)
  const { sqs, consumers, clock } = checked
  const at = clock.now()
  const [pending, pull, dead, beats, depths] = await Promise.all([
    countShards(checked, ALL_PENDING_SHARDS),
    Promise.all(
      (system.pullSources ?? []).map(async (source) => ({
        source,
        ...(await countShards(checked, pullShards(source))),
      })),
    ),
    countShards(checked, ALL_DEAD_SHARDS),
    readHeartbeats(checked),
    Promise.all(
      consumers.map(async ({ name, queueUrl, deadLetterQueueUrl }) => ({
        name,
        queue: await readQueueDepth(sqs, queueUrl),
        deadLetters: await readQueueDepth(sqs, deadLetterQueueUrl),
      })),
    ),
  ])
  return {
    at,
    pending,
    pull,
    dead,
    sweepers: beats.map((beat) => ({ ...beat, agoMs: at - beat.at })),
    consumers: depths,
  }
}

async function countShards(system: CheckedSystem, shards: readonly string[]): Promise<RowCount> {
  let count = 0
  let capped = false
  let oldest = Number.POSITIVE_INFINITY
  const countShard = async (shard: string): Promise<void> => {
    let pages = 0
    for await (const rows of indexedRows(system, shard)) {
      if (pages === PAGES_PER_SHARD) {
        capped = true
        return
      }
      pages += 1
      count += rows.length
      oldest = Math.min(oldest, ...rows.map(createdAt))
    }
  }
  await eachAtOnce(shards, SHARDS_AT_ONCE, countShard)
  return { count, capped, ...(count === 0 ? {} : { oldestMs: Math.max(0, system.clock.now() - oldest) }) }
}

function createdAt({ created, due }: IndexedRow): number {
  return created ?? due - GRACE_MS
}
