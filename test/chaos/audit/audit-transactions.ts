import type { Breach, StoredTransaction } from './books.ts'
import type { IndexedBooks } from './index-books.ts'

/** What a writer may be told of a transaction of which nothing was written. */
const NOTHING_WRITTEN: ReadonlySet<string> = new Set([
  'duplicate',
  'EVENT_CONFLICT',
  'CONDITION_FAILED',
  'TRANSACTION_BUSY',
  'UNAVAILABLE',
])

/** All of a transaction or nothing of it, and its writer was told the truth. */
export function auditTransactions(indexed: IndexedBooks): Breach[] {
  return [
    ...auditStored(indexed),
    ...auditStrays(indexed),
    ...auditAnswers(indexed),
    ...auditShared(indexed),
    ...auditAggregates(indexed),
  ]
}

function auditStored({ books, rowsOfTransaction }: IndexedBooks): Breach[] {
  return books.transactions.flatMap(({ tx, events }): Breach[] => {
    const stored = rowsOfTransaction.get(tx)?.length ?? 0
    if (stored < events)
      return [
        { kind: 'lost', tx, what: `${events - stored} of ${events} events of a committed transaction are not stored` },
      ]
    if (stored > events)
      return [{ kind: 'doubled', tx, what: `${stored} events are stored of a transaction that had ${events}` }]
    return []
  })
}

function auditStrays({ rowsOfTransaction, transactions }: IndexedBooks): Breach[] {
  return [...rowsOfTransaction].flatMap(([tx, [row]]): Breach[] =>
    transactions.has(tx)
      ? []
      : [
          {
            kind: 'doubled',
            tx,
            ...(row === undefined ? {} : { id: row.id }),
            what: 'an event is stored whose transaction was not committed',
          },
        ],
  )
}

function auditAnswers({ books, transactions }: IndexedBooks): Breach[] {
  return books.journal.flatMap((line): Breach[] => {
    if (line.kind !== 'outcome') return []
    const { tx, outcome } = line
    if (outcome === 'committed' && !transactions.has(tx))
      return [{ kind: 'lost', tx, what: 'its writer was told that it was committed, and it is not stored' }]
    if (NOTHING_WRITTEN.has(outcome) && transactions.has(tx))
      return [{ kind: 'doubled', tx, what: `its writer was told ${outcome}, and it is stored` }]
    if (outcome.startsWith('INVALID')) return [{ kind: 'lost', tx, what: `its writer was told ${outcome}` }]
    return []
  })
}

/** Keys that several writers write: one content, and one transaction of those that must not repeat it. */
function auditShared({ books }: IndexedBooks): Breach[] {
  const stored = new Map(
    books.rows.flatMap((row) => (row.source === 'depot' && row.group === undefined ? [[row.key, row] as const] : [])),
  )
  const owners = new Map<string, StoredTransaction>()
  const breaches: Breach[] = []
  for (const transaction of books.transactions) {
    const { tx, shared } = transaction
    if (shared === undefined) continue
    const row = stored.get(shared.key)
    if (row === undefined)
      breaches.push({ kind: 'lost', tx, what: 'the keyed event of a committed transaction is not stored' })
    else if (row.data.variant !== shared.variant)
      breaches.push({
        kind: 'lost',
        tx,
        id: row.id,
        what: 'a transaction was committed whose keyed event is stored with other content',
      })
    if (shared.mode === 'commit') continue
    if (owners.has(shared.key))
      breaches.push({ kind: 'doubled', tx, what: 'two transactions were committed under one idempotency key' })
    owners.set(shared.key, transaction)
  }
  return breaches
}

/** A version for each event and an event for each version. */
function auditAggregates({ books }: IndexedBooks): Breach[] {
  const versions = new Map(books.aggregates.map(({ name, version }) => [name, version]))
  const groups = Map.groupBy(
    books.rows.filter(({ source, group }) => source === 'depot' && group !== undefined),
    ({ group }) => group ?? '',
  )
  return [...new Set([...versions.keys(), ...groups.keys()])].flatMap((name): Breach[] => {
    const version = versions.get(name) ?? 0
    const sequences = (groups.get(name) ?? []).map(({ sequence }) => sequence ?? 0)
    const beyond = sequences.filter((sequence) => sequence > version).length
    const missing = version - (sequences.length - beyond)
    return [
      ...(missing > 0 ? [{ kind: 'lost' as const, what: `${missing} numbers of ${name} have no event` }] : []),
      ...(beyond > 0 ? [{ kind: 'doubled' as const, what: `${beyond} events of ${name} are beyond its version` }] : []),
    ]
  })
}
