import { eventId, type Identity } from '../../src/event/identity.ts'
import { rowKey } from '../../src/outbox/row.ts'
import type { Books, StoredEffect, StoredEntry, StoredRow } from '../chaos/audit/books.ts'
import type { JournalLine } from '../chaos/audit/journal-line.ts'
import type { EventData } from '../chaos/workload/event-data.ts'

const CREATED = 1_000

export type RowParts = { readonly type: string; readonly identity: Identity; readonly data: EventData }

/** A relayed row. */
export function rowOf({ type, identity, data }: RowParts): StoredRow {
  return {
    ...rowKey(identity),
    id: eventId(identity),
    type,
    data,
    source: identity.source,
    key: 'key' in identity ? identity.key : `${identity.group} ${identity.sequence}`,
    ...('key' in identity ? {} : { group: identity.group, sequence: identity.sequence }),
    created: CREATED,
    state: 'relayed',
    redrives: 0,
    expires: 1_800_000_000,
  }
}

const step = rowOf({
  type: 'step',
  identity: { source: 'depot', group: 'v1', sequence: 1 },
  data: { tx: 'w#1.1', follow: true, trail: 't1' },
})
const pair = rowOf({ type: 'pair', identity: { source: 'depot', group: 'v1', sequence: 2 }, data: { tx: 'w#1.1' } })
const ping = rowOf({ type: 'ping', identity: { source: 'depot', group: 'v1', sequence: 3 }, data: { tx: 'w#1.2' } })
const note = rowOf({ type: 'note', identity: { source: 'depot', key: 'shared-1' }, data: { variant: 0 } })
const follow = rowOf({ type: 'follow', identity: { source: 'shop', key: `follow-${step.id}` }, data: { of: step.id } })
const trail = rowOf({ type: 'trail', identity: { source: 'shop', group: 't1', sequence: 7 }, data: { of: step.id } })

export const ROWS = { step, pair, ping, note, follow, trail }

/** The books of a small run in which all went well: each kind of event, handled in order. */
export function wholeBooks(): Books {
  return {
    rows: Object.values(ROWS),
    entries: [
      done(step, 'main/apply'),
      done(pair, 'main/apply'),
      done(pair, 'main/notify'),
      done(ping, 'main/notify'),
      done(note, 'plain/record'),
      done(follow, 'side/mirror'),
      done(trail, 'side/echo'),
    ],
    effects: [
      once(step, 'main/apply'),
      once(pair, 'main/apply'),
      once(note, 'plain/record'),
      once(follow, 'side/mirror'),
    ],
    transactions: [
      { tx: 'w#1.1', events: 2 },
      { tx: 'w#1.2', events: 1 },
      { tx: 'w#1.3', events: 0, shared: { key: 'shared-1', variant: 0, mode: 'cancel' } },
    ],
    aggregates: [{ name: 'v1', version: 3 }],
    journal: [
      outcome('w#1.1', 'committed'),
      outcome('w#1.2', 'committed'),
      outcome('w#1.3', 'committed'),
      outcome('w#1.4', 'CONDITION_FAILED'),
      ...run(step, 'main/apply'),
      ...run(pair, 'main/apply'),
      ...run(pair, 'main/notify'),
      ...run(ping, 'main/notify'),
      ...run(note, 'plain/record'),
      ...run(follow, 'side/mirror'),
      ...run(trail, 'side/echo'),
    ],
    left: { main: 0, 'main-dead': 0 },
  }
}

/** The books with other lists, each made of the whole one's. */
export function booksWith(changes: { readonly [Part in keyof Books]?: (whole: Books[Part]) => Books[Part] }): Books {
  const whole = wholeBooks()
  return {
    rows: changes.rows?.(whole.rows) ?? whole.rows,
    entries: changes.entries?.(whole.entries) ?? whole.entries,
    effects: changes.effects?.(whole.effects) ?? whole.effects,
    transactions: changes.transactions?.(whole.transactions) ?? whole.transactions,
    aggregates: changes.aggregates?.(whole.aggregates) ?? whole.aggregates,
    journal: changes.journal?.(whole.journal) ?? whole.journal,
    left: changes.left?.(whole.left) ?? whole.left,
  }
}

type Named = { readonly id: string; readonly handler?: string }

/** A list in which what belongs to one event, and to one handler if given, is changed. */
export function changing(change: Partial<StoredRow & StoredEntry & StoredEffect>, row: StoredRow, handler?: string) {
  return <Item extends Named>(items: readonly Item[]): Item[] =>
    items.map((item) =>
      item.id === row.id && (handler === undefined || item.handler === handler) ? { ...item, ...change } : item,
    )
}

export function without(row: StoredRow, handler?: string) {
  return <Item extends Named>(items: readonly Item[]): Item[] =>
    items.filter((item) => item.id !== row.id || (handler !== undefined && item.handler !== handler))
}

export function done({ id, created }: StoredRow, handler: string): StoredEntry {
  return { id, handler, status: 'done', attempts: 0, life: created }
}

export function once({ id }: StoredRow, handler: string): StoredEffect {
  return { id, handler, times: 1, late: false }
}

export function outcome(tx: string, text: string): JournalLine {
  return { kind: 'outcome', tx, outcome: text, process: 'w#1', at: 0 }
}

export type How = 'returned' | 'failed' | 'permanent' | 'passed' | 'crashed'

/** What one call of a handler leaves in the journal. */
export function run(row: StoredRow, handler: string, how: How = 'returned'): JournalLine[] {
  const { id, source, group, sequence } = row
  const line = { id, handler, process: 'c#1', at: 0 }
  const place = group === undefined || sequence === undefined ? {} : { group: `${source}/${group}`, sequence }
  const acts = how === 'returned' && ['main/notify', 'side/echo'].includes(handler)
  return [
    { kind: 'start', ...line, attempt: 1 },
    ...(acts ? [{ kind: 'effect' as const, ...line, key: id, ...place }] : []),
    how === 'crashed' ? { kind: 'death', process: line.process, ids: [id], at: 0 } : { kind: 'end', ...line, how },
  ]
}

export function letter(row: StoredRow, handlers: readonly string[], attempts: number): JournalLine {
  return { kind: 'letter', id: row.id, handlers, attempts, queue: 'main', at: 0 }
}
