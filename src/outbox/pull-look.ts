import type { PullStore } from './pull-store.ts'
import { isDueAt, isOrderedKey, pullShards, type RowKey } from './row.ts'
import type { IndexEntry } from './row-queries.ts'

/** Entries of a first page: as many as a worker's next claims need, and some that others take meanwhile. */
const FRONT_ENTRIES = { least: 25, perClaim: 4, most: 250 }
/** Entries of each page beyond, and how many of those one look reads. */
const DEEP_ENTRIES = 250
const DEEP_PAGES = 4

/** What may be claimed: an unordered row, or the head of a group, near the row that the index shows. */
export type Candidate =
  | { readonly kind: 'row'; readonly key: RowKey }
  | { readonly kind: 'group'; readonly pk: string; readonly shown: number }

/**
 * Pages of entries, due or not, of all the shards of one source, each look beginning with another shard. The first page of
 * a shard is always the one that is due longest. `wanted`: how many claims are still to be made.
 */
export type Look = (wanted: () => number) => AsyncGenerator<readonly IndexEntry[]>

/**
 * A group whose head waits for its next try may fill the first pages of a shard with rows that cannot be claimed. So a
 * look goes on behind the first page where an earlier look found something, or where it ended, and comes round in time:
 * each look costs a few pages, and no group hides the others. `begin`: which shard is first, in [0, 1).
 */
export function createLook(store: PullStore, source: string, begin: number): Look {
  const all = pullShards(source)
  const cursors = new Map<string, IndexEntry>()
  let turn = Math.floor(begin * all.length)

  async function* pagesOf(shard: string, wanted: number): AsyncGenerator<readonly IndexEntry[]> {
    const { least, perClaim, most } = FRONT_ENTRIES
    const front = await store.readIndex({ shard, limit: Math.min(most, Math.max(least, perClaim * wanted)) })
    yield front.entries
    let { more } = front
    let after = cursors.get(shard) ?? front.entries.at(-1)
    for (let page = 0; more && after !== undefined && page < DEEP_PAGES; page++) {
      // Whoever has enough stops reading here, and the next look comes back to this page.
      cursors.set(shard, after)
      const deep = await store.readIndex({ shard, limit: DEEP_ENTRIES, after })
      yield deep.entries
      more = deep.more
      after = deep.entries.at(-1) ?? after
    }
    if (more && after !== undefined) cursors.set(shard, after)
    else cursors.delete(shard)
  }

  return async function* look(wanted) {
    turn = (turn + 1) % all.length
    for (const shard of [...all.slice(turn), ...all.slice(0, turn)]) yield* pagesOf(shard, wanted())
  }
}

/** The candidates of a page that `tried` does not name yet, in the order of their time; adds them to it. */
export function planCandidates(entries: readonly IndexEntry[], now: number, tried: Set<string>): Candidate[] {
  const due = entries.filter((entry) => isDueAt(entry.due, now) && !tried.has(nameOf(entry)))
  for (const entry of due) tried.add(nameOf(entry))
  return [...Map.groupBy(due, nameOf).values()].flatMap(candidateOf)
}

/** A group once, at the lowest of its rows. */
function candidateOf(entries: readonly IndexEntry[]): Candidate[] {
  const [first] = entries
  if (first === undefined) return []
  const { pk, sk } = first
  if (!isOrderedKey(first)) return [{ kind: 'row', key: { pk, sk } }]
  return [{ kind: 'group', pk, shown: Math.min(...entries.map((entry) => Number(entry.sk))) }]
}

function nameOf(key: RowKey): string {
  return isOrderedKey(key) ? key.pk : `${key.pk} ${key.sk}`
}
