import type { Books, Breach } from './audit/books.ts'
import type { JournalLine } from './audit/journal-line.ts'
import type { FaultLayer } from './faults/fault-layer.ts'

/** All that is known of a breach: what is stored, what the processes wrote down, and the requests that touched it. */
export async function traceOf(books: Books, { trace }: FaultLayer, { id, tx }: Breach): Promise<readonly string[]> {
  const row = books.rows.find((one) => one.id === id || (tx !== undefined && one.data.tx === tx))
  const about = id ?? row?.id
  const stored = [
    ...books.rows.filter((one) => one.id === about || (tx !== undefined && one.data.tx === tx)),
    ...books.entries.filter((one) => one.id === about),
    ...books.effects.filter((one) => one.id === about),
    ...books.transactions.filter((one) => one.tx === (tx ?? row?.data.tx)),
    ...books.journal.filter((line) => isAbout(line, about, tx ?? row?.data.tx)),
  ]
  const texts = [
    about,
    row === undefined ? undefined : `${row.pk} ${row.sk}`,
    tx === undefined ? undefined : `TX#${tx}`,
  ]
  return [...stored.map((item) => JSON.stringify(item)), ...(await trace(texts.filter((text) => text !== undefined)))]
}

function isAbout(line: JournalLine, id: string | undefined, tx: string | undefined): boolean {
  if ('tx' in line) return line.tx === tx
  return 'ids' in line ? id !== undefined && line.ids.includes(id) : line.id === id
}
