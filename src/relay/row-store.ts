import type { RowKey } from '../outbox/row.ts'
import type { GroupRange, IndexEntry, IndexRange, PairKeys } from '../outbox/row-queries.ts'
import type { RowImage } from './row-image.ts'

/**
 * All that relay and sweeper ask of the table. Every method makes one request (more only to finish it) and throws if it
 * cannot be answered; what may happen by rights is an answer.
 */
export type RowStore = {
  /**
   * Up to 100 rows; those that do not exist are left out. Eventually consistent, at half the price: a state that is a
   * second old leads at worst to a send that the broker removes and a mark that its condition refuses.
   */
  readonly readRows: (keys: readonly RowKey[], signal: AbortSignal) => Promise<readonly RowImage[]>
  /** Rows of a group in order, consistent as of the start of the call; not a snapshot of a transaction. */
  readonly readGroup: (range: GroupRange, signal: AbortSignal) => Promise<GroupPage>
  /**
   * Whether the row `before` exists, as a snapshot with the row after it: what a transaction commits together is seen
   * together. `busy`: a transaction is under way on one of them.
   */
  readonly readBefore: (pair: PairKeys, signal: AbortSignal) => Promise<'absent' | 'present' | 'busy'>
  /** Pending → relayed. One answer per mark, in order; at most 25, no row twice. */
  readonly markRelayed: (marks: readonly Mark[], signal: AbortSignal) => Promise<readonly MarkAnswer[]>
  /** Adds to `accepted` while pending. */
  readonly addAccepted: (guard: Guard, destinations: readonly string[], signal: AbortSignal) => Promise<Landing>
  /** Pending → dead. */
  readonly deadLetter: (guard: Guard, burial: Burial, signal: AbortSignal) => Promise<Landing>
  /** Gives a pending row that has no `due` one, so that the sweeper sees it. */
  readonly list: (row: RowKey & { readonly shard: string }, due: number, signal: AbortSignal) => Promise<Landing>
  /** Entries of a shard of the index by `due`, ascending unless said otherwise; eventually consistent. */
  readonly readIndex: (range: IndexRange, signal: AbortSignal) => Promise<IndexPage>
  /** How many rows a shard of the index holds, at most about 1 MB of them. */
  readonly countShard: (shard: string, signal: AbortSignal) => Promise<number>
  readonly readHeartbeat: (region: string, signal: AbortSignal) => Promise<Heartbeat | undefined>
  readonly writeHeartbeat: (region: string, beat: Heartbeat, signal: AbortSignal) => Promise<void>
}

/** `more`: there may be rows beyond, in the direction of reading. */
export type GroupPage = { readonly images: readonly RowImage[]; readonly more: boolean }

/** A row, and the state it must still be in: this shard, and the same `redrives` (undefined: any). */
export type Guard = RowKey & { readonly shard: string; readonly redrives?: number }

/** `expires` in seconds since 1970. */
export type Mark = RowKey & {
  readonly shard: string
  readonly redrives: number
  /** Whether the row has `redrives` at all; if not, it is 0. */
  readonly redrivesStored: boolean
  readonly expires: number
}

/** `gone`: no longer in the state the guard names; somebody else moved it. */
export type Landing = 'landed' | 'gone'

/** `busy` may pass when tried again; `failed` was refused for another reason. */
export type MarkAnswer = Landing | 'busy' | 'failed'

export type Burial = {
  readonly shard: string
  /** 1–512 bytes without control characters. */
  readonly reason: string
  /** ms; `due` and `created` of a row that has none, which the index needs. */
  readonly at: number
  /** Destinations that took it in this round, to be added to those of earlier ones. */
  readonly accepted: readonly string[]
}

export type IndexPage = { readonly entries: readonly IndexEntry[]; readonly more: boolean }

/** Partition key of the sweeper's heartbeat; sort key: its Region. No event's: those begin with `K#` or `G#`. */
export const HEARTBEAT_PK = 'H#sweeper'

/** The sweeper's last run that looked at the whole index. Kept in the outbox table without `shard` and `expires`. */
export type Heartbeat = {
  /** ms, when it ended */
  readonly at: number
  /** Pending rows it saw (capped). */
  readonly pending: number
  /** ms, age of the oldest of them */
  readonly oldestPendingMs: number
  /** Dead rows (capped) when they were last counted, and when that was (ms). */
  readonly dead?: number
  readonly deadCountedAt?: number
}
