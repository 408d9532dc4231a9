import type { RowKey } from '../../src/outbox/row.ts'
import type { IndexEntry } from '../../src/outbox/row-queries.ts'
import type { Attribute, RowImage } from '../../src/relay/row-image.ts'
import type { Guard, Heartbeat, Landing, RowStore } from '../../src/relay/row-store.ts'

export type MemoryRowStore = RowStore & {
  readonly put: (image: RowImage) => void
  readonly get: (key: RowKey) => RowImage | undefined
  readonly all: () => readonly RowImage[]
  /** The row is committed, but the next reads of its group do not show it yet (a transaction is being applied). */
  readonly tear: (key: RowKey, reads?: number) => void
  /** Every row is shown from now on. */
  readonly settleTorn: () => void
  /** Calls so far, by method, and rows read by each. */
  readonly calls: Map<string, number>
  readonly rowsRead: Map<string, number>
  /** Largest number of rows that one read gave. */
  readonly largestRead: () => number
  /** Makes a method reject, or answer otherwise, until reset. */
  readonly fail: (method: keyof RowStore, error?: Error) => void
  readonly mend: () => void
  /** Statements of the next mark request that answer `busy` or `failed` instead. */
  readonly disturbMarks: (...answers: readonly ('busy' | 'failed' | 'ok')[]) => void
}

/** The row store in memory, with the table's conditions: a change that does not hold is refused. Refuses what the service refuses. */
export function createMemoryRowStore(): MemoryRowStore {
  const rows = new Map<string, Record<string, Attribute>>()
  const torn = new Map<string, number>()
  const broken = new Map<string, Error>()
  const calls = new Map<string, number>()
  const rowsRead = new Map<string, number>()
  let disturbed: ('busy' | 'failed' | 'ok')[] = []
  let largest = 0

  const name = ({ pk, sk }: RowKey): string => `${pk}\0${sk}`
  const call = (method: keyof RowStore, signal: AbortSignal): void => {
    calls.set(method, (calls.get(method) ?? 0) + 1)
    signal.throwIfAborted()
    const error = broken.get(method)
    if (error !== undefined) throw error
  }
  const read = <T>(method: string, found: T[]): T[] => {
    rowsRead.set(method, (rowsRead.get(method) ?? 0) + found.length)
    largest = Math.max(largest, found.length)
    return found
  }
  const change = (guard: Guard, apply: (row: Record<string, Attribute>) => void): Landing => {
    const row = { ...rows.get(name(guard)) }
    if (row['shard']?.S !== guard.shard) return 'gone'
    if (guard.redrives !== undefined && Number(row['redrives']?.N ?? 0) !== guard.redrives) return 'gone'
    apply(row)
    rows.set(name(guard), row)
    return 'landed'
  }
  const isTorn = (key: RowKey): boolean => {
    const left = torn.get(name(key)) ?? 0
    if (left > 0) torn.set(name(key), left - 1)
    return left > 0
  }
  const shardEntries = (shard: string): IndexEntry[] =>
    [...rows.values()]
      .filter((row) => row['shard']?.S === shard && row['due']?.N !== undefined)
      .map((row) => ({ ...keyOf(row), due: Number(row['due']?.N), ...created(row) }))
      .sort((a, b) => a.due - b.due || (name(a) < name(b) ? -1 : 1))

  return {
    calls,
    rowsRead,
    largestRead: () => largest,
    put: (image) => rows.set(name(keyOf(image)), { ...image }),
    get: (key) => rows.get(name(key)),
    all: () => [...rows.values()],
    tear: (key, reads = 1) => torn.set(name(key), reads),
    settleTorn: () => torn.clear(),
    fail: (method, error = new Error('the table does not answer')) => broken.set(method, error),
    mend: () => broken.clear(),
    disturbMarks: (...answers) => {
      disturbed = [...answers]
    },
    readRows: async (keys, signal) => {
      call('readRows', signal)
      if (keys.length > 100) throw new Error('ValidationException: too many keys')
      if (new Set(keys.map(name)).size < keys.length) throw new Error('ValidationException: duplicate keys')
      const wanted = new Set(keys.map(name))
      const found: RowImage[] = [...rows.values()].filter((row) => wanted.has(name(keyOf(row))))
      return read('readRows', found)
    },
    readGroup: async ({ pk, from = '0', to = '9'.repeat(16), descending = false, limit }, signal) => {
      call('readGroup', signal)
      const range = [...rows.values()].filter((row) => row['pk']?.S === pk && inRange(row['sk']?.S ?? '', from, to))
      const sorted = range.sort((a, b) => ((a['sk']?.S ?? '') < (b['sk']?.S ?? '') ? -1 : 1))
      const visible = (descending ? sorted.reverse() : sorted).filter((row) => !isTorn(keyOf(row)))
      const images = read<RowImage>('readGroup', visible.slice(0, limit))
      return { images, more: images.length === limit }
    },
    readBefore: async ({ pk, before }, signal) => {
      call('readBefore', signal)
      return rows.has(name({ pk, sk: before })) ? 'present' : 'absent'
    },
    markRelayed: async (marks, signal) => {
      call('markRelayed', signal)
      if (marks.length === 0 || marks.length > 25) throw new Error(`ValidationException: ${marks.length} statements`)
      if (new Set(marks.map(name)).size < marks.length) throw new Error('ValidationException: one item twice')
      return marks.map((mark) => {
        const answer = disturbed.shift() ?? 'ok'
        if (answer !== 'ok') return answer
        return change(mark, (row) => {
          delete row['shard']
          row['expires'] = { N: String(mark.expires) }
        })
      })
    },
    addAccepted: async (guard, destinations, signal) => {
      call('addAccepted', signal)
      return change(guard, (row) => {
        row['accepted'] = { SS: [...new Set([...(row['accepted']?.SS ?? []), ...destinations])] }
      })
    },
    deadLetter: async (guard, { shard, reason, at, accepted }, signal) => {
      call('deadLetter', signal)
      return change(guard, (row) => {
        row['shard'] = { S: shard }
        row['failure'] = { S: reason }
        row['due'] ??= { N: String(at) }
        row['created'] ??= { N: String(at) }
        const all = new Set([...(row['accepted']?.SS ?? []), ...accepted])
        if (all.size > 0) row['accepted'] = { SS: [...all] }
        delete row['expires']
      })
    },
    list: async (row, due, signal) => {
      call('list', signal)
      if (rows.get(name(row))?.['due'] !== undefined) return 'gone'
      return change(row, (stored) => {
        stored['due'] = { N: String(due) }
        stored['created'] ??= { N: String(due) }
      })
    },
    readIndex: async ({ shard, limit, after, latestBeyond }, signal) => {
      call('readIndex', signal)
      const all = shardEntries(shard)
      const beyond = latestBeyond === undefined ? all : all.filter(({ due }) => due > latestBeyond).reverse()
      const start = after === undefined ? 0 : all.findIndex((entry) => name(entry) === name(after)) + 1
      const entries = read('readIndex', beyond.slice(start, start + limit))
      return { entries, more: start + entries.length < beyond.length }
    },
    countShard: async (shard, signal) => {
      call('countShard', signal)
      return shardEntries(shard).length
    },
    readHeartbeat: async (region, signal) => {
      call('readHeartbeat', signal)
      const row = rows.get(`H#sweeper\0${region}`)
      if (row === undefined) return undefined
      const { pk, sk, ...fields } = row
      return Object.fromEntries(Object.entries(fields).map(([key, { N }]) => [key, Number(N)])) as Heartbeat
    },
    writeHeartbeat: async (region, beat, signal) => {
      call('writeHeartbeat', signal)
      const fields = Object.entries(beat).map(([key, value]) => [key, { N: String(value) }] as const)
      const known = rows.get(`H#sweeper\0${region}`) ?? { pk: { S: 'H#sweeper' }, sk: { S: region } }
      rows.set(`H#sweeper\0${region}`, { ...known, ...Object.fromEntries(fields) })
    },
  }
}

function keyOf(image: RowImage): RowKey {
  return { pk: image['pk']?.S ?? '', sk: image['sk']?.S ?? '' }
}

function created(row: RowImage): { created?: number } {
  return row['created']?.N === undefined ? {} : { created: Number(row['created'].N) }
}

function inRange(sk: string, from: string, to: string): boolean {
  return sk >= from && sk <= to
}
