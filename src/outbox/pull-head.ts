import { formatSequence } from '../event/identity.ts'
import type { PullStore, StoredRow } from './pull-store.ts'
import { rowState } from './row.ts'

/** Rows read with the one that the index shows: mostly the one before it is passed, and ends the search. */
const FIRST_ROWS = 2
/** Rows of each further read. */
const MORE_ROWS = 100

/** A row and its number in the group. */
type Numbered = { readonly row: StoredRow; readonly sequence: number }

/**
 * The head of a group: the lowest row above the last one that is relayed or dead, near the row `shown` that the index
 * names. Below that one only redriven rows wait, which are heads of their own. Undefined if nothing waits there, or if a
 * transaction under way may still show a row before it: the next look will tell.
 *
 * Usually one read of two rows. Throws if the table does not answer.
 */
export async function findHead(store: PullStore, pk: string, shown: number): Promise<StoredRow | undefined> {
  const found = await descend(store, pk, shown)
  const { head, below } = found.head === undefined ? await ascend(store, pk, { shown, below: found.below }) : found
  if (head === undefined) return undefined
  return (await isWhole(store, pk, { sequence: head.sequence, below })) ? head.row : undefined
}

/** `below`: the row that was read right before it, and is passed; none if it was not read. */
type Found = { readonly head?: Numbered | undefined; readonly below?: number | undefined }

/** From the row shown downward to the first one that is passed. */
async function descend(store: PullStore, pk: string, shown: number): Promise<Found> {
  let head: Numbered | undefined
  let next: number | undefined = shown
  for (let limit = FIRST_ROWS; next !== undefined; limit = MORE_ROWS) {
    const { rows, more } = await store.readGroup({ pk, to: formatSequence(next), descending: true, limit })
    for (const numbered of rows.map(withSequence)) {
      if (!isWaiting(numbered)) return { head, below: numbered.sequence }
      head = numbered
    }
    next = more && head !== undefined && head.sequence > 0 ? head.sequence - 1 : undefined
  }
  return { head }
}

/** The index is a moment behind: where the row it shows is passed by now, the next one that waits is the head. */
async function ascend(
  store: PullStore,
  pk: string,
  from: { readonly shown: number; readonly below: number | undefined },
): Promise<Found> {
  let { below } = from
  for (let next = from.shown + 1; ; next = (below ?? next) + 1) {
    const { rows, more } = await store.readGroup({ pk, from: formatSequence(next), limit: MORE_ROWS })
    for (const numbered of rows.map(withSequence)) {
      if (isWaiting(numbered)) return { head: numbered, below }
      below = numbered.sequence
    }
    if (!more) return {}
  }
}

/**
 * A Query is no snapshot of a transaction: it may show N and not yet N−1 of the same commit. Only a gap right before the
 * head is asked for.
 */
async function isWhole(
  store: PullStore,
  pk: string,
  at: { readonly sequence: number; readonly below: number | undefined },
): Promise<boolean> {
  const { sequence, below } = at
  if (sequence <= 1 || below === sequence - 1) return true
  const pair = { pk, before: formatSequence(sequence - 1), sk: formatSequence(sequence) }
  return (await store.readBefore(pair)) === 'absent'
}

function withSequence(row: StoredRow): Numbered {
  return { row, sequence: Number(row['sk']) }
}

function isWaiting({ row: { shard } }: Numbered): boolean {
  return typeof shard === 'string' && rowState(shard) === 'pull'
}
