import { typeRule } from '../topology.ts'
import type { Breach, StoredRow } from './books.ts'
import { type IndexedBooks, nameOf } from './index-books.ts'

/** Milliseconds taken for seconds would lie beyond this: the year 2100. */
const LATEST_SECONDS = 4_102_444_800

/** Nothing waits any more: no row, no entry of the ledger, no message. */
export function auditEnds({ books, rows, entries }: IndexedBooks): Breach[] {
  return [
    ...books.rows.flatMap(auditRow),
    ...books.entries.flatMap(({ id, handler, status }): Breach[] =>
      status === 'done' ? [] : [{ kind: 'stuck', id, what: `${handler} is ${status}` }],
    ),
    ...books.rows.flatMap(({ id, type, state }) =>
      (typeRule(type)?.handlers ?? [])
        .filter((handler) => state === 'relayed' && !entries.has(nameOf({ handler, id })))
        .map((handler): Breach => ({ kind: 'stuck', id, what: `${handler} has no entry in the ledger` })),
    ),
    ...books.entries.flatMap(({ id, handler }): Breach[] =>
      rows.has(id)
        ? []
        : [{ kind: 'stuck', id, what: `the ledger has an entry of ${handler} for an event that is not stored` }],
    ),
    ...Object.entries(books.left).flatMap(([queue, messages]): Breach[] =>
      messages === 0 ? [] : [{ kind: 'stuck', what: `${messages} messages are left in ${queue}` }],
    ),
  ]
}

function auditRow({ id, state, expires }: StoredRow): Breach[] {
  if (state !== 'relayed') {
    const expiry = expires === undefined ? '' : ', and it would expire'
    return [{ kind: 'stuck', id, what: `its row is ${state}${expiry}` }]
  }
  if (expires === undefined) return [{ kind: 'stuck', id, what: 'its row is relayed and would never expire' }]
  return expires < LATEST_SECONDS ? [] : [{ kind: 'stuck', id, what: 'its row expires in the wrong unit' }]
}
