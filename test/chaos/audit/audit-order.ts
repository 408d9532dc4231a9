import type { Breach } from './books.ts'
import { type IndexedBooks, nameOf } from './index-books.ts'

/** In each group, each handler in the order of the numbers, except what was dead-lettered on the way. */
export function auditOrder(indexed: IndexedBooks): Breach[] {
  return [...auditCommitted(indexed), ...auditOutside(indexed)]
}

function auditCommitted(indexed: IndexedBooks): Breach[] {
  return indexed.books.effects.flatMap(({ id, handler, late }): Breach[] =>
    late && !wasDead(indexed, { id, handler })
      ? [{ kind: 'reordered', id, what: `${handler} handled a later one of its group before` }]
      : [],
  )
}

/** Of several times the first counts: whoever was taken over may act once more, later. */
function auditOutside(indexed: IndexedBooks): Breach[] {
  const highest = new Map<string, number>()
  const seen = new Set<string>()
  const breaches: Breach[] = []
  for (const line of indexed.books.journal) {
    if (line.kind !== 'effect' || line.group === undefined || line.sequence === undefined) continue
    const { id, handler, group, sequence } = line
    if (seen.has(nameOf(line))) continue
    seen.add(nameOf(line))
    const lane = `${handler} ${group}`
    const before = highest.get(lane) ?? -1
    if (sequence > before) highest.set(lane, sequence)
    else if (!wasDead(indexed, line))
      breaches.push({ kind: 'reordered', id, what: `${handler} acted on ${before} of its group before ${sequence}` })
  }
  return breaches
}

/** Its row was dead, or its message was for this handler: it came back in a later life than its first. */
function wasDead({ rows, entries }: IndexedBooks, name: { readonly id: string; readonly handler: string }): boolean {
  const row = rows.get(name.id)
  if (row === undefined || row.redrives > 0 || row.failure !== undefined) return true
  return (entries.get(nameOf(name))?.life ?? 0) > row.created
}
