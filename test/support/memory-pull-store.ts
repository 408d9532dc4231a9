import type { PullChange, PullStore, StoredRow } from '../../src/outbox/pull-store.ts'
import type { RowKey } from '../../src/outbox/row.ts'
import type { IndexEntry } from '../../src/outbox/row-queries.ts'

export type MemoryPullStore = PullStore & {
  readonly put: (row: StoredRow) => void
  readonly get: (key: RowKey) => StoredRow | undefined
  readonly all: () => readonly StoredRow[]
  /** What the next changes meet, in order: an outage (not applied), or a lost answer (applied). */
  readonly faults: ('outage' | 'lost-answer' | 'ok')[]
  /** The row is committed, but reads of its group do not show it yet: a transaction is being applied. */
  readonly tear: (key: RowKey | undefined) => void
  /** The index keeps showing what it shows now, until thawed. */
  readonly freezeIndex: () => void
  readonly thawIndex: () => void
  /** Calls so far, by method. */
  readonly calls: Map<string, number>
  /** Rows and entries that reads gave. */
  readonly rowsRead: () => number
}

/** Rows in memory, with the table's conditions: a change that does not hold is refused, with what stands there. */
export function createMemoryPullStore(): MemoryPullStore {
  const rows = new Map<string, StoredRow>()
  const faults: MemoryPullStore['faults'] = []
  const calls = new Map<string, number>()
  let torn: string | undefined
  let frozen: readonly StoredRow[] | undefined
  let read = 0

  const call = (method: string) => void calls.set(method, (calls.get(method) ?? 0) + 1)
  const counted = <Item>(items: readonly Item[]): readonly Item[] => {
    read += items.length
    return items
  }
  const indexed = () =>
    (frozen ?? [...rows.values()]).filter((row) => row['shard'] !== undefined && row['due'] !== undefined)

  return {
    faults,
    calls,
    rowsRead: () => read,
    put: (row) => void rows.set(nameOf(row), row),
    get: (key) => rows.get(nameOf(key)),
    all: () => [...rows.values()],
    tear: (key) => {
      torn = key === undefined ? undefined : nameOf(key)
    },
    freezeIndex: () => {
      frozen = [...rows.values()]
    },
    thawIndex: () => {
      frozen = undefined
    },
    readIndex: async ({ shard, limit, after, latestBeyond }) => {
      call('readIndex')
      const entries = indexed()
        .filter((row) => row['shard'] === shard && (latestBeyond === undefined || Number(row['due']) > latestBeyond))
        .map(entryOf)
        .sort((one, other) => compare(one, other) * (latestBeyond === undefined ? 1 : -1))
        .filter((entry) => after === undefined || compare(entry, after) > 0)
      return { entries: counted(entries.slice(0, limit)), more: entries.length > limit }
    },
    readRow: async (key) => {
      call('readRow')
      const row = rows.get(nameOf(key))
      return counted(row === undefined ? [] : [row])[0]
    },
    readGroup: async ({ pk, from = '0'.repeat(16), to = '9'.repeat(16), descending = false, limit }) => {
      call('readGroup')
      const found = [...rows.values()]
        .filter((row) => row['pk'] === pk && nameOf(row) !== torn)
        .filter(({ sk }) => String(sk) >= from && String(sk) <= to && String(sk).length === 16)
        .sort((one, other) => (String(one['sk']) < String(other['sk']) ? -1 : 1) * (descending ? -1 : 1))
      return { rows: counted(found.slice(0, limit)), more: found.length > limit }
    },
    readBefore: async ({ pk, before }) => {
      call('readBefore')
      return rows.has(nameOf({ pk, sk: before })) ? 'present' : 'absent'
    },
    change: async (change) => {
      call('change')
      const fault = faults.shift() ?? 'ok'
      if (fault === 'outage') throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' })
      const before = rows.get(nameOf(change.key))
      if (!holds(before, change)) return { status: 'gone', row: before }
      const kept = Object.entries(before ?? change.key).filter(([name]) => !change.remove.includes(name))
      rows.set(nameOf(change.key), { ...Object.fromEntries(kept), ...change.set })
      if (fault === 'lost-answer') throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' })
      return { status: 'landed' }
    },
  }
}

function holds(row: StoredRow | undefined, { expect }: PullChange): boolean {
  return Object.entries(expect).every(([name, value]) => row?.[name] === value)
}

function entryOf({ pk, sk, due, created }: StoredRow): IndexEntry {
  const entry = { pk: String(pk), sk: String(sk), due: Number(due) }
  return created === undefined ? entry : { ...entry, created: Number(created) }
}

/** As DynamoDB orders entries of one sort key: by anything, but always the same way. */
function compare(one: IndexEntry, other: IndexEntry): number {
  if (one.due !== other.due) return one.due - other.due
  return nameOf(one) < nameOf(other) ? -1 : nameOf(one) > nameOf(other) ? 1 : 0
}

function nameOf({ pk, sk }: Readonly<Record<'pk' | 'sk', unknown>> | StoredRow): string {
  return `${pk} ${sk}`
}
