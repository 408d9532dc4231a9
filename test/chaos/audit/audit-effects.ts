import { COMMITTING, typeRule } from '../topology.ts'
import type { Breach, StoredEffect, StoredRow } from './books.ts'
import { type IndexedBooks, nameOf } from './index-books.ts'

/** Each committed event's effect: exactly once if committed with its claim, at least once outside; none of any other. */
export function auditEffects(indexed: IndexedBooks): Breach[] {
  const { books } = indexed
  return [
    ...books.rows.flatMap((row) => auditRow(indexed, row)),
    ...books.effects.flatMap((effect) => auditEffect(indexed, effect)),
    ...auditOutside(indexed),
    ...auditOrigins(indexed),
  ]
}

/** A row that did not get out is stuck, and its effects are not counted as lost beside that. */
function auditRow({ effects, outside }: IndexedBooks, row: StoredRow): Breach[] {
  if (row.state !== 'relayed') return []
  return (typeRule(row.type)?.handlers ?? []).flatMap((handler): Breach[] => {
    const name = nameOf({ handler, id: row.id })
    const isThere = COMMITTING.has(handler) ? effects.has(name) : outside.has(name)
    return isThere ? [] : [{ kind: 'lost', id: row.id, what: `${handler} has not handled it` }]
  })
}

function auditEffect({ rows }: IndexedBooks, { id, handler, times }: StoredEffect): Breach[] {
  const row = rows.get(id)
  if (row === undefined) return [{ kind: 'doubled', id, what: `${handler} has handled an event that is not stored` }]
  const belongs = typeRule(row.type)?.handlers.some((name) => name === handler) ?? false
  if (!belongs) return [{ kind: 'doubled', id, what: `${handler} has handled an event of type ${row.type}` }]
  return times === 1 ? [] : [{ kind: 'doubled', id, what: `${handler} has handled it ${times} times` }]
}

function auditOutside({ rows, outside }: IndexedBooks): Breach[] {
  return [...outside.keys()].flatMap((name): Breach[] => {
    const [handler = '', id = ''] = name.split(' ')
    return rows.has(id) ? [] : [{ kind: 'doubled', id, what: `${handler} has acted on an event that is not stored` }]
  })
}

/** Follow-up events: what a handler's commit enqueued, once, and only if it landed. */
function auditOrigins({ books, effects, rowsFrom }: IndexedBooks): Breach[] {
  const has = (id: string): boolean => effects.has(nameOf({ handler: 'main/apply', id }))
  const missing = books.rows.flatMap((row): Breach[] => {
    if (!has(row.id)) return []
    const types = (rowsFrom.get(row.id) ?? []).map(({ type }) => type)
    return [
      ...compare(row.id, 'follow', { want: row.data.follow ? 1 : 0, got: count(types, 'follow') }),
      ...compare(row.id, 'trail', { want: row.data.trail === undefined ? 0 : 1, got: count(types, 'trail') }),
    ]
  })
  const strays = [...rowsFrom].flatMap(([of, [row]]): Breach[] =>
    has(of) || row === undefined
      ? []
      : [{ kind: 'doubled', id: row.id, what: 'a follow-up is stored whose handler did not commit' }],
  )
  return [...missing, ...strays]
}

function compare(id: string, type: string, { want, got }: { readonly want: number; readonly got: number }): Breach[] {
  if (got === want) return []
  return [
    { kind: got < want ? 'lost' : 'doubled', id, what: `${got} events of type ${type} came of it, and not ${want}` },
  ]
}

function count(types: readonly string[], type: string): number {
  return types.filter((one) => one === type).length
}
