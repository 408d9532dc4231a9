import type { Books, StoredEffect, StoredEntry, StoredRow, StoredTransaction } from './books.ts'

/** What a handler's calls for one event came to, by the journal. */
export type Runs = {
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
  /** How often a consumer's process died with the event in hand. */
  readonly deaths: ReadonlyMap<string, number>
}

const NO_RUNS: Runs = { failed: 0, permanent: 0 }

export function indexBooks(books: Books): IndexedBooks {
  const outside = new Map<string, number>()
  const runs = new Map<string, Runs>()
  const deaths = new Map<string, number>()
  const add = (name: string, more: Partial<Runs>): void => {
    const { failed, permanent } = runs.get(name) ?? NO_RUNS
    runs.set(name, { failed: failed + (more.failed ?? 0), permanent: permanent + (more.permanent ?? 0) })
  }
  for (const line of books.journal) {
    if (line.kind === 'end' && line.how === 'failed') add(nameOf(line), { failed: 1 })
    if (line.kind === 'end' && line.how === 'permanent') add(nameOf(line), { permanent: 1 })
    if (line.kind === 'death') for (const id of line.ids) deaths.set(id, (deaths.get(id) ?? 0) + 1)
    if (line.kind === 'effect') outside.set(nameOf(line), (outside.get(nameOf(line)) ?? 0) + 1)
  }
  return {
    books,
    outside,
    runs,
    deaths,
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
