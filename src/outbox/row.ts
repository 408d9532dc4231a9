import { eventId, eventKey, formatSequence, type Identity, SEQUENCE_DIGITS, sha256 } from '../event/identity.ts'

/** Format of the rows this code writes. A row with a higher `v` was written by a newer version and stays pending. */
export const ROW_VERSION = 1
export const PENDING_SHARDS = 64
const DEAD_SHARDS = 8
const PULL_SHARDS = 8
/** Before `created` + grace a row belongs to the stream path; after it, to the sweeper. Milliseconds. */
export const GRACE_MS = 120_000
/** How long a relayed row is kept. Seconds. */
export const KEEP_RELAYED_SECONDS = 7 * 86_400
/** A `due` further ahead than this was written by a wrong clock and counts as due. Milliseconds. */
export const DUE_HORIZON_MS = 25 * 3_600_000

/** Where a row is stored. Unordered `K#source/key`, `-`; ordered `G#source/group`, sequence in 16 digits. */
export type RowKey = { readonly pk: string; readonly sk: string }

/** A row as this package writes it. Text, numbers and one set: the same in either client's form. */
export type OutboxRow = RowKey & {
  readonly v: number
  /** The writer's Region: only this Region's relay and sweeper send it. */
  readonly region: string
  readonly type: string
  /** The CloudEvents JSON text, sent verbatim. */
  readonly body: string
  /** ms */
  readonly created: number
  /** Short random id of the call that wrote it: a retry recognises its own row. */
  readonly instance: string
  /** `p#00`–`p#63` pending, `d#0`–`d#7` dead, `w#source#0`–`7` pending for pull workers, absent once relayed. */
  readonly shard?: string
  /** ms; `created` + grace. Of a row for pull workers: `created`, then the end of its lease or of its delay. */
  readonly due?: number
  /** Of a row for pull workers: whose claim holds it until `due`; on a relayed one, whose claim did it. */
  readonly token?: string
  /**
   * Of a row for pull workers: claims spent. Written by the first claim, and what tells such a row from a relay's once it
   * is dead or relayed.
   */
  readonly claims?: number
  /** How many times it was redriven or replayed. Absent means 0. */
  readonly redrives?: number
  /** Destinations that took it while others did not. */
  readonly accepted?: ReadonlySet<string>
  /** Why it is or was dead: 1–512 bytes, no control characters. */
  readonly failure?: string
  /** Epoch seconds; only on relayed rows. */
  readonly expires?: number
  /** Life note of a replay, or of a dead row of pull workers: goes with the event as it is. */
  readonly note?: string
}

export type RowState = 'pending' | 'pull' | 'dead' | 'relayed'

/** State is derived from `shard`, never stored twice. */
export function rowState(shard: string | undefined): RowState {
  if (shard === undefined) return 'relayed'
  if (shard.startsWith('d#')) return 'dead'
  return shard.startsWith('w#') ? 'pull' : 'pending'
}

export function rowKey(identity: Identity): RowKey {
  return 'key' in identity
    ? { pk: `K#${identity.source}/${eventKey(identity)}`, sk: '-' }
    : { pk: groupKey(identity), sk: formatSequence(identity.sequence) }
}

/** Partition key of a group's rows. */
export function groupKey({ source, group }: { readonly source: string; readonly group: string }): string {
  return `G#${source}/${group}`
}

const SEQUENCE = new RegExp(`^\\d{${SEQUENCE_DIGITS}}$`)

/** The inverse of {@link rowKey}; undefined for a key of another shape (a foreign row's). */
export function identityOf({ pk, sk }: RowKey): Identity | undefined {
  const slash = pk.indexOf('/')
  if (slash < 3 || slash === pk.length - 1) return undefined
  const source = pk.slice(2, slash)
  const name = pk.slice(slash + 1)
  if (pk.startsWith('K#')) return sk === '-' ? { source, key: name } : undefined
  const sequence = Number(sk)
  // Beyond that two numbers would be one, and so would two events.
  if (!isOrderedKey({ pk, sk }) || !Number.isSafeInteger(sequence)) return undefined
  return { source, group: name, sequence }
}

/** One text for each key, whatever is in it: another program's keys may hold any separator. */
export function keyText({ pk, sk }: RowKey): string {
  return `${pk.length} ${pk}${sk}`
}

/** Whether rows under this key have an order among each other. */
export function isOrderedKey({ pk, sk }: RowKey): boolean {
  return pk.startsWith('G#') && SEQUENCE.test(sk)
}

/** Shard of a pending row: by its group if ordered, else by its id. A constant of the row. */
export function pendingShard(key: RowKey): string {
  return `p#${String(shardNumber(key, PENDING_SHARDS)).padStart(2, '0')}`
}

/** Shard of a dead row. */
export function deadShard(key: RowKey): string {
  return `d#${shardNumber(key, DEAD_SHARDS)}`
}

/** Shard of a row that waits for pull workers. Undefined for a key of a foreign form, which no pull worker takes. */
export function pullShard(key: RowKey): string | undefined {
  const source = identityOf(key)?.source
  return source === undefined ? undefined : `w#${source}#${shardNumber(key, PULL_SHARDS)}`
}

/** All the shards of a source that pull workers read. */
export function pullShards(source: string): readonly string[] {
  return Array.from({ length: PULL_SHARDS }, (_, n) => `w#${source}#${n}`)
}

/** The shard in which a dead or relayed row waits again: a row that pull workers have had goes back to them. */
export function waitingShard(row: RowKey & { readonly claims?: number | undefined }): string {
  return (row.claims === undefined ? undefined : pullShard(row)) ?? pendingShard(row)
}

/** Its time has come, or lies so far ahead that the writer's clock was wrong. ms */
export function isDueAt(due: number, now: number): boolean {
  return due <= now || due > now + DUE_HORIZON_MS
}

function shardNumber(key: RowKey, shards: number): number {
  const identity = identityOf(key)
  const text = isOrderedKey(key) ? key.pk : identity === undefined ? `${key.pk}|${key.sk}` : eventId(identity)
  return Number.parseInt(sha256(text).slice(0, 8), 16) % shards
}

export const ALL_PENDING_SHARDS: readonly string[] = Array.from(
  { length: PENDING_SHARDS },
  (_, n) => `p#${String(n).padStart(2, '0')}`,
)
export const ALL_DEAD_SHARDS: readonly string[] = Array.from({ length: DEAD_SHARDS }, (_, n) => `d#${n}`)
