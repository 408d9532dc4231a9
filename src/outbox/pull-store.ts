import type { RowKey } from './row.ts'
import type { GroupRange, IndexEntry, IndexRange, PairKeys } from './row-queries.ts'

/** A row as it is stored, with native values. */
export type StoredRow = Readonly<Record<string, unknown>>

/**
 * All that pull workers ask of the table. Every method makes one request and throws if it cannot be answered; what may
 * happen by rights is an answer.
 */
export type PullStore = {
  /** Entries of a shard of the index by `due`; a moment behind the table. */
  readonly readIndex: (
    range: IndexRange,
  ) => Promise<{ readonly entries: readonly IndexEntry[]; readonly more: boolean }>
  /** Consistent. */
  readonly readRow: (key: RowKey) => Promise<StoredRow | undefined>
  /** Rows of a group in order, consistent; not a snapshot of a transaction. */
  readonly readGroup: (range: GroupRange) => Promise<{ readonly rows: readonly StoredRow[]; readonly more: boolean }>
  /** Whether the row `before` exists, as a snapshot with the row after it. `busy`: a transaction is under way on one. */
  readonly readBefore: (pair: PairKeys) => Promise<'absent' | 'present' | 'busy'>
  /** One conditional write. */
  readonly change: (change: PullChange) => Promise<ChangeAnswer>
}

/**
 * One version of a waiting row. Every claim has a token of its own and every other change takes it away or moves `due`, so
 * these three name it. Undefined: the attribute is not there.
 */
export type RowVersion = {
  readonly shard: string
  readonly token: string | undefined
  /** ms */
  readonly due: number | undefined
}

/** A write that holds only while the row is the version it was decided from. */
export type PullChange = {
  readonly key: RowKey
  readonly expect: RowVersion
  readonly set: Readonly<Record<string, string | number>>
  readonly remove: readonly string[]
}

export type ChangeAnswer =
  | { readonly status: 'landed' }
  /** Another version stands there; undefined: no row. */
  | { readonly status: 'gone'; readonly row: StoredRow | undefined }
