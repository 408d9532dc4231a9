import { errorName, OutboxError } from '../errors.ts'
import { ALL_DEAD_SHARDS, PENDING_SHARDS, type RowKey } from '../outbox/row.ts'
import { createPool, type Pool } from '../pool.ts'
import { relayUnordered } from './relay-unordered.ts'
import { readRow } from './row-image.ts'
import { READ_AGE_MS, type Run } from './run.ts'
import { sweepGroup } from './sweep-group.ts'
import {
  ALL_CURSORS,
  type Look,
  lookAtShards,
  oldestAge,
  planSweep,
  type ShardCursor,
  type SweepWork,
} from './sweep-index.ts'

/** Groups on their way at once: ten full requests of ten. */
const CONCURRENT_GROUPS = 100
/** Unordered rows read and sent at a time, and how many such reads at once: 40 MB at worst. */
const PAGE_ROWS = 50
const CONCURRENT_PAGES = 2
/** Each 15 minutes, give or take half of one between runs: dead rows change rarely. Milliseconds. */
const COUNT_DEAD_EVERY_MS = 14.5 * 60_000

/** What one run saw and did. Counts are capped at 500 rows a shard. */
export type SweepReport = {
  /** Rows pending when the run began. */
  readonly pending: number
  /** ms, by creation */
  readonly oldestPendingMs: number
  /** Rows relayed by this run. */
  readonly relayed: number
  /** Rows dead-lettered by this run. */
  readonly dead: number
  /** Rows dead in all, if this run counted them. */
  readonly deadTotal?: number
  /** The time ended before all was reached; the next run goes on. */
  readonly timeIsUp: boolean
  /** Destinations that did not answer. */
  readonly paused: readonly string[]
}

/**
 * Relays what the stream path left. Throws `UNAVAILABLE` at its end if a part of the index could not be read, having
 * done the rest: then no age is given, since it might be too low.
 */
export async function sweep(run: Run, region: string): Promise<SweepReport> {
  const first = await lookAtShards(run, rotated(run.clock.now()))
  const now = run.clock.now()
  const gauges = { pending: first.entries.length, oldestPendingMs: oldestAge(first.entries, now) }
  if (first.unread === 0) {
    run.telemetry.count('pendingRows', gauges.pending)
    run.telemetry.count('oldestPendingMs', gauges.oldestPendingMs)
  }
  const unread = first.unread + (await drain(run, first))
  const dead = unread === 0 ? await beat(run, region, gauges) : undefined
  run.telemetry.count('swept', run.counted('relayed'))
  if (unread > 0) {
    throw new OutboxError(
      'UNAVAILABLE',
      `${unread} of ${PENDING_SHARDS} shards or groups could not be read; the next run tries again.`,
    )
  }
  return {
    ...gauges,
    relayed: run.counted('relayed'),
    dead: run.counted('deadRows'),
    ...(dead === undefined ? {} : { deadTotal: dead }),
    timeIsUp: run.timeIsUp(),
    paused: [...run.senders.values()].filter((sender) => sender.paused()).map(({ name }) => name),
  }
}

/** Another shard comes first each minute: rows that a destination keeps failing cannot stand before all others for ever. */
function rotated(now: number): readonly ShardCursor[] {
  const turn = Math.floor(now / 60_000) % ALL_CURSORS.length
  return [...ALL_CURSORS.slice(turn), ...ALL_CURSORS.slice(0, turn)]
}

/**
 * Hands out work as it is taken, and looks for more meanwhile: a long group or a slow destination holds up neither the
 * others nor the look. Gives how many reads failed.
 */
async function drain(run: Run, first: Look): Promise<number> {
  const pages = createPool(CONCURRENT_PAGES)
  const lanes = createPool(CONCURRENT_GROUPS)
  const seen = new Set<string>()
  let failed = 0
  const count = (answered: boolean): void => {
    failed += answered ? 0 : 1
  }
  for (let look = first; ; look = await lookAtShards(run, look.next)) {
    failed += look === first ? 0 : look.unread
    const work = planSweep(look.entries, run.clock.now(), seen)
    await Promise.all([startPages(run, work, { pool: pages, count }), startGroups(run, work, { pool: lanes, count })])
    if (look.next.length === 0 || run.over()) break
  }
  await Promise.all([pages.idle(), lanes.idle()])
  await run.marker.flush()
  return failed
}

type Handout = { readonly pool: Pool; readonly count: (answered: boolean) => void }

async function startPages(run: Run, { unordered }: SweepWork, { pool, count }: Handout): Promise<void> {
  for (let at = 0; at < unordered.length && !run.over(); at += PAGE_ROWS) {
    const keys = unordered.slice(at, at + PAGE_ROWS)
    await pool.start(async () => count(await sweepPage(run, keys)))
  }
}

async function startGroups(run: Run, { groups }: SweepWork, { pool, count }: Handout): Promise<void> {
  for (const [pk, sequences] of groups) {
    if (run.over()) return
    await pool.start(async () => count(await sweepGroup(run, pk, sequences)))
  }
}

async function sweepPage(run: Run, keys: readonly RowKey[]): Promise<boolean> {
  const readAt = run.clock.now()
  try {
    const images = await run.ask((store, signal) => store.readRows(keys, signal))
    const readings = images.map((image) => readRow(image, run.regions))
    await Promise.all(readings.map((reading) => relayUnordered(run, reading, readAt + READ_AGE_MS)))
    return true
  } catch (error) {
    run.logger.warn('rows could not be read', { rows: keys.length, reason: errorName(error) })
    return false
  }
}

/**
 * Writes the heartbeat, and counts dead rows if it is time. Gives their number if they were counted. A heartbeat that
 * fails is logged: its age is what tells.
 */
async function beat(
  run: Run,
  region: string,
  gauges: { pending: number; oldestPendingMs: number },
): Promise<number | undefined> {
  try {
    const last = await run.ask((store, signal) => store.readHeartbeat(region, signal))
    const at = run.clock.now()
    const dead = at - (last?.deadCountedAt ?? 0) >= COUNT_DEAD_EVERY_MS ? await countDead(run) : undefined
    const counted = dead === undefined ? {} : { dead, deadCountedAt: at }
    await run.ask((store, signal) => store.writeHeartbeat(region, { at, ...gauges, ...counted }, signal))
    return dead
  } catch (error) {
    run.logger.warn('heartbeat could not be written', { reason: errorName(error) })
    return undefined
  }
}

async function countDead(run: Run): Promise<number> {
  const counts = await Promise.all(
    ALL_DEAD_SHARDS.map((shard) => run.ask((store, signal) => store.countShard(shard, signal))),
  )
  const dead = counts.reduce((sum, count) => sum + count, 0)
  run.telemetry.count('deadRowsTotal', dead)
  return dead
}
