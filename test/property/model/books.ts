import { eventId, eventKey, type Identity } from '../../../src/event/identity.ts'
import type { Entry } from '../../../src/ledger/entry.ts'
import { identityOf } from '../../../src/outbox/row.ts'
import type { Item } from './engine/values.ts'

/** A row that was committed: what everything else is measured by. */
export type Committed = {
  readonly id: string
  readonly identity: Identity
  readonly type: string
  readonly body: string
  readonly life: number
  readonly at: number
  readonly pk: string
  readonly sk: string
  readonly instance: string
  readonly region: string
}

export type WriteResult = {
  /** What tells whether it was applied: an item with a count. */
  readonly mark: string
  readonly said: 'nothing' | 'committed' | 'duplicate' | 'failed' | 'unknown'
}

/** What the world has seen, and what was wrong with it. */
export type Books = {
  readonly committed: Committed[]
  /** Effects outside of the tables: event, handler and the key that names them. */
  readonly effects: { readonly id: string; readonly name: string; readonly key: string }[]
  readonly results: Map<string, WriteResult>
  /** By event, handler and life: runs that failed by themselves, and processes that ended while it ran alone. */
  readonly spent: Map<string, number>
  /** The same, by event and handler: all claims. */
  readonly claims: Map<string, number>
  /** Events that were dead once or came late, entries that were dead: they are no longer bound to an order. */
  readonly displaced: Set<string>
  /** Messages sent again on purpose, by event. */
  readonly again: Map<string, number>
  /** Handlers that ended an event without their effect, by event and handler. */
  readonly waived: Set<string>
  readonly breaches: string[]
  readonly breach: (text: string) => void
}

export function createBooks(tell: (who: string, text: string) => void): Books {
  const breaches: string[] = []
  return {
    committed: [],
    effects: [],
    results: new Map(),
    spent: new Map(),
    claims: new Map(),
    displaced: new Set(),
    again: new Map(),
    waived: new Set(),
    breaches,
    breach: (text) => {
      tell('BREACH', text)
      breaches.push(text)
    },
  }
}

export function count(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1)
}

export function committedOf(item: Item, at: number): Committed | undefined {
  const pk = item.pk?.S ?? ''
  const sk = item.sk?.S ?? ''
  const identity = identityOf({ pk, sk })
  if (identity === undefined) return undefined
  const text = (name: string): string => item[name]?.S ?? ''
  return {
    id: eventId(identity),
    identity,
    type: text('type'),
    body: text('body'),
    life: Number(item.created?.N),
    at,
    pk,
    sk,
    instance: text('instance'),
    region: text('region'),
  }
}

/** `a…7`, `k3`: an event as the story names it. Automatic numbers are cut to their last digits. */
export function shortName(identity: Identity): string {
  return eventKey(identity).replace(/ \d{10,}$/, (number) => `…${number.slice(-3)}`)
}

export function lifeKey({ id, name, life }: Pick<Entry, 'id' | 'name' | 'life'>): string {
  return `${id} ${name} ${life}`
}
