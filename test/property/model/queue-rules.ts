import { decodeBody } from '../../../src/event/codec.ts'
import { decodeLifeNote, LIFE_ATTRIBUTE } from '../../../src/event/life.ts'
import { rowState } from '../../../src/outbox/row.ts'
import type { WireEntry } from '../../../src/testing/sqs-rules.ts'
import type { Books, Committed } from './books.ts'
import type { Table } from './engine/table.ts'
import { CONSUMERS, HANDLERS } from './plan.ts'
import { destinationsOf, wasFirst } from './row-rules.ts'

export type Accept = { readonly queue: string; readonly entry: WireEntry; readonly isNew: boolean }

export type QueueRules = {
  readonly rows: Table
  readonly ledger: Table
  readonly books: Books
  readonly nameOf: (id: string) => string
}

/**
 * What may enter a queue: committed events, as they were written, each group in order. Told of each entry as it is accepted;
 * keeps what each queue has taken.
 */
export function watchQueues({ rows, books, nameOf }: QueueRules) {
  const taken = new Set<string>()
  const has = (queue: string, deduplicationId: string): boolean => taken.has(`${queue} ${deduplicationId}`)
  const hasAny = (queue: string, id: string): boolean => taken.has(`${queue} first ${id}`)

  const accepted = ({ queue, entry, isNew }: Accept): void => {
    if (queue.includes('-dead')) return
    const decoded = decodeBody(entry.MessageBody)
    const id = decoded.ok ? decoded.event.id : ''
    taken.add(`${queue} ${entry.MessageDeduplicationId}`)
    const fault = faultOfEntry(queue, entry, id)
    if (fault !== undefined) books.breach(`${queue} got ${nameOf(id)}: ${fault}`)
    const row = books.committed.find(({ body }) => body === entry.MessageBody)
    const isFirst = isNew && !hasAny(queue, id) && entry.MessageAttributes?.[LIFE_ATTRIBUTE] === undefined
    if (row !== undefined && isFirst) overtaken(queue, row)
    taken.add(`${queue} first ${id}`)
  }
  const faultOfEntry = (queue: string, { MessageBody }: WireEntry, id: string): string | undefined => {
    if (!books.committed.some((row) => row.id === id)) return 'it was never committed'
    const row = books.committed.find(({ body }) => body === MessageBody)
    if (row === undefined) return 'its body is another one'
    return destinationsOf(row).includes(queue) ? undefined : 'it is not routed there'
  }
  const overtaken = (queue: string, later: Committed): void => {
    if (!('group' in later.identity)) return
    for (const row of books.committed) {
      if (row.pk !== later.pk || row.sk >= later.sk || !wasFirst(books, row, later)) continue
      const isExempt = books.displaced.has(row.id) || !destinationsOf(row).includes(queue) || hasAny(queue, row.id)
      const state = rowState(rows.slot(`${row.pk}\0${row.sk}`).item?.shard?.S)
      if (!isExempt && state === 'pending') books.breach(`${queue} got ${nameOf(later.id)} before ${nameOf(row.id)}`)
    }
  }
  return { has, accepted }
}

/** A handler ends an event of a group only once all earlier ones that came by the same queue are handled or dead. */
export function watchHandling({ ledger, books, nameOf }: QueueRules): void {
  ledger.onChange(({ before, after }) => {
    if (after?.status?.S !== 'done' || before?.status?.S === 'done') return
    const id = after.pk?.S ?? ''
    const consumer = CONSUMERS.find(({ name }) => after.sk?.S?.startsWith(`${name}/`))
    const row = books.committed.findLast((one) => one.id === id)
    if (row === undefined || consumer === undefined || !('group' in row.identity)) return
    for (const earlier of books.committed) {
      if (earlier.pk !== row.pk || earlier.sk >= row.sk || !wasFirst(books, earlier, row)) continue
      if (books.displaced.has(earlier.id) || !destinationsOf(earlier).includes(consumer.queue)) continue
      const open = HANDLERS.map((handler) => `${consumer.name}/${handler}`).filter((name) => {
        const status = ledger.slot(`${earlier.id}\0${name}`).item?.status?.S
        return status !== 'done' && status !== 'dead' && !books.displaced.has(`${earlier.id} ${name}`)
      })
      if (open.length > 0) books.breach(`${after.sk?.S} handled ${nameOf(id)} before ${nameOf(earlier.id)} (${open})`)
    }
  })
}

/** A copy in a dead-letter queue names one handler that has spent its attempts, and the next life. */
export function faultOfCopy(entry: WireEntry, ledger: Table): string | undefined {
  const note = decodeLifeNote(entry.MessageAttributes?.[LIFE_ATTRIBUTE]?.StringValue ?? '')
  const decoded = decodeBody(entry.MessageBody)
  if (note === undefined || !decoded.ok) return 'a copy that says nothing of itself'
  const [name = ''] = note.handlers
  const item = ledger.slot(`${decoded.event.id}\0${name}`).item
  if (item === undefined) return `a copy for ${name}, which never ran`
  return undefined
}
