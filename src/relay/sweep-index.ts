import { errorName } from '../errors.ts'
import {
  ALL_PENDING_SHARDS,
  DUE_HORIZON_MS,
  GRACE_MS,
  isDueAt,
  isOrderedKey,
  keyText,
  type RowKey,
} from '../outbox/row.ts'
import type { IndexEntry } from '../outbox/row-queries.ts'
import type { Run } from './run.ts'

/** Entries of one shard in one look: 64 shards make at most 32,000 entries, some 10 MB. */
const LOOK_ENTRIES = 500
/** Entries with a `due` too far ahead that one look picks up from a shard with more entries than it shows. */
const FAR_ENTRIES = 25

/** A shard, and where to go on in it. */
export type ShardCursor = { readonly shard: string; readonly after?: IndexEntry }

export const ALL_CURSORS: readonly ShardCursor[] = ALL_PENDING_SHARDS.map((shard) => ({ shard }))

export type Look = {
  /** All that was seen, due or not. */
  readonly entries: readonly IndexEntry[]
  /** Shards that hold more due entries. */
  readonly next: readonly ShardCursor[]
  /** Shards that could not be read. */
  readonly unread: number
}

/**
 * Reads the shards side by side, one Query each without a range: an idle index costs half a read unit a shard, and the
 * counts and ages come from the same look. Where a shard shows only its first entries, a second look from the other end
 * finds those whose writer's clock was far ahead.
 */
export async function lookAtShards(run: Run, cursors: readonly ShardCursor[]): Promise<Look> {
  const reasons = new Set<string>()
  const looks = await Promise.all(cursors.map((cursor) => lookAtShard(run, cursor, reasons)))
  const unread = looks.reduce((sum, look) => sum + look.unread, 0)
  if (unread > 0) run.logger.error('the index could not be read', { shards: unread, reasons: [...reasons] })
  return {
    entries: looks.flatMap(({ entries }) => entries),
    next: looks.flatMap(({ next }) => next),
    unread,
  }
}

async function lookAtShard(run: Run, { shard, after }: ShardCursor, reasons: Set<string>): Promise<Look> {
  try {
    const range = { shard, limit: LOOK_ENTRIES, ...(after === undefined ? {} : { after }) }
    const { entries, more } = await run.ask((store, signal) => store.readIndex(range, signal))
    const last = entries.at(-1)
    if (!more || last === undefined) return { entries, next: [], unread: 0 }
    const far = after === undefined ? await lookFarAhead(run, shard) : []
    const next = last.due <= run.clock.now() ? [{ shard, after: last }] : []
    return { entries: [...entries, ...far], next, unread: 0 }
  } catch (error) {
    reasons.add(errorName(error))
    return { entries: [], next: [], unread: 1 }
  }
}

async function lookFarAhead(run: Run, shard: string): Promise<readonly IndexEntry[]> {
  const range = { shard, limit: FAR_ENTRIES, latestBeyond: run.clock.now() + DUE_HORIZON_MS }
  return (await run.ask((store, signal) => store.readIndex(range, signal))).entries
}

export function isDue({ due }: IndexEntry, now: number): boolean {
  return isDueAt(due, now)
}

/** ms since the oldest of the entries was created; 0 without any. */
export function oldestAge(entries: readonly IndexEntry[], now: number): number {
  return entries.reduce((age, { created, due }) => Math.max(age, now - (created ?? due - GRACE_MS)), 0)
}

export type SweepWork = {
  readonly unordered: readonly RowKey[]
  /** Sequences shown of each group, by partition key. */
  readonly groups: ReadonlyMap<string, readonly number[]>
}

/**
 * What there is to do for the entries that are due. A group with one due row is done as a whole: its rows that are not
 * due yet come after it in any case. `seen` keeps out what this run had before, and is added to.
 */
export function planSweep(entries: readonly IndexEntry[], now: number, seen: Set<string>): SweepWork {
  const due = entries.filter((entry) => isDue(entry, now))
  const fresh = due.filter(({ pk, sk }) => !seen.has(workName({ pk, sk })))
  for (const entry of fresh) seen.add(workName(entry))
  const groups = new Map<string, number[]>()
  for (const { pk, sk } of fresh.filter(isOrderedKey)) groups.set(pk, [...(groups.get(pk) ?? []), Number(sk)])
  return { unordered: distinct(fresh.filter((entry) => !isOrderedKey(entry))), groups }
}

/** A group is one piece of work. */
function workName(key: RowKey): string {
  return isOrderedKey(key) ? `group ${key.pk}` : keyText(key)
}

function distinct(keys: readonly RowKey[]): RowKey[] {
  return [...new Map(keys.map(({ pk, sk }) => [keyText({ pk, sk }), { pk, sk }])).values()]
}
