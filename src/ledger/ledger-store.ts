import type { Entry, EntryKey } from './entry.ts'

/** One conditional write on one row, as plain data. */
export type LedgerWrite =
  /** Only if no row stands there. */
  | { readonly kind: 'insert'; readonly entry: Entry }
  /** Only if the row's token and status are the expected ones. */
  | { readonly kind: 'update'; readonly key: EntryKey; readonly expect: Version; readonly set: Change }

/** Every claim has a token of its own, and every other write changes the status: the two name one version of a row. */
export type Version = Pick<Entry, 'token' | 'status'>

export type Change = Partial<Omit<Entry, 'id' | 'name'>> & Pick<Entry, 'status'>

export type WriteAnswer =
  | { readonly status: 'applied' }
  /** The condition did not hold. `entry` is what stands there; undefined: nothing. */
  | { readonly status: 'refused'; readonly entry: Entry | undefined }
  /** Not answered, or not understood: it may have been applied. `retryable`: the same write may succeed soon. */
  | { readonly status: 'failed'; readonly reason: string; readonly retryable: boolean }

/** Where rows are kept. Never throws. */
export type LedgerStore = { readonly write: (write: LedgerWrite) => Promise<WriteAnswer> }

export function keyOf(write: LedgerWrite): EntryKey {
  return write.kind === 'insert' ? write.entry : write.key
}
