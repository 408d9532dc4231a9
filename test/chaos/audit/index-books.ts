import type { Books, StoredEffect, StoredEntry, StoredRow, StoredTransaction } from './books.ts'

/** What a handler's calls for one event came to, by the journal. */
export type Runs = {
  readonly starts: number
  readonly ends: number
  readonly failed: number
  readonly permanent: number
}

/** The books, to look things up in. Handlers are looked up by `handler id`. */
export type IndexedBooks = {
  readonly books: Books
  readonly rows: ReadonlyMap<string, StoredRow>
  readonly rowsOfTransaction: ReadonlyMap<string, readonly StoredRow[]>
  readonly rowsFrom: ReadonlyMap<string, readonly StoredRow[]>
  readonly entries: ReadonlyMap<string, StoredEntry>
  readonly effects: ReadonlyMap<string, StoredEffect>
  readonly transactions: ReadonlyMap<string, StoredTransaction>
  /** How often each effect outside of AWS happened. */
  readonly outside: ReadonlyMap<string, number>
  readonly runs: ReadonlyMap<string, Runs>
}

const NO_RUNS: Runs = { starts: 0, ends: 0, failed: 0, permanent: 0 }

export function indexBooks(books: Books): IndexedBooks {
  const outside = new Map<string, number>()
  const runs = new Map<string, Runs>()
  const add = (name: string, more: Partial<Runs>): void => {
    const { starts, ends, failed, permanent } = runs.get(name) ?? NO_RUNS
    runs.set(name, {
      starts: starts + (more.starts ?? 0),
      ends: ends + (more.ends ?? 0),
      failed: failed + (more.failed ?? 0),
      permanent: permanent + (more.permanent ?? 0),
    })
  }
  for (const line of books.journal) {
    if (line.kind === 'start') add(nameOf(line), { starts: 1 })
    if (line.kind === 'end')
      add(nameOf(line), { ends: 1, failed: line.how === 'failed' ? 1 : 0, permanent: line.how === 'permanent' ? 1 : 0 })
    if (line.kind === 'effect') outside.set(nameOf(line), (outside.get(nameOf(line)) ?? 0) + 1)
  }
  return {
    books,
    outside,
    runs,
    rows: new Map(books.rows.map((row) => [row.id, row])),
    rowsOfTransaction: groupedBy(books.rows, ({ data }) => data.tx),
    rowsFrom: groupedBy(books.rows, ({ data }) => data.of),
    entries: new Map(books.entries.map((entry) => [nameOf(entry), entry])),
    effects: new Map(books.effects.map((effect) => [nameOf(effect), effect])),
    transactions: new Map(books.transactions.map((transaction) => [transaction.tx, transaction])),
  }
}

export function nameOf({ handler, id }: { readonly handler: string; readonly id: string }): string {
  return `${handler} ${id}`
}

export function runsOf({ runs }: IndexedBooks, name: string): Runs {
  return runs.get(name) ?? NO_RUNS
}

function groupedBy(
  rows: readonly StoredRow[],
  keyOf: (row: StoredRow) => string | undefined,
): Map<string, StoredRow[]> {
  const groups = new Map<string, StoredRow[]>()
  for (const row of rows) {
    const key = keyOf(row)
    if (key === undefined) continue
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [row])
    else group.push(row)
  }
  return groups
}
