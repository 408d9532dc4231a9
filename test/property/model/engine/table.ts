import type { Process } from '../process.ts'
import type { Item } from './values.ts'

/** What stands at one key. */
export type Slot = {
  /** Committed. */
  item: Item | undefined
  /** What was there before the last change, and when that was: reads that need not be consistent may still see it. */
  before: Item | undefined
  changedAt: number
  /** The write of a transaction under way: a Query may see it from then on, other writes conflict with it. */
  pending: { readonly item: Item | undefined; readonly visibleAt: number; readonly done: Promise<void> } | undefined
}

export type Table = {
  readonly name: string
  readonly now: () => number
  readonly slots: Map<string, Slot>
  /** Every change, in order, as soon as it is sure: of a transaction, that is before all reads see it. */
  readonly onChange: (listener: (change: ItemChange) => void) => void
  readonly change: (key: string, item: Item | undefined) => void
  /** The two halves of a change. */
  readonly announce: (key: string, item: Item | undefined) => void
  readonly store: (key: string, item: Item | undefined) => void
  readonly slot: (key: string) => Slot
  readonly items: () => Item[]
}

export type ItemChange = {
  readonly before: Item | undefined
  readonly after: Item | undefined
  readonly at: number
  /** Who sent the request; undefined: nobody did. */
  readonly by: Process | undefined
}

export function createTable(name: string, now: () => number, author: () => Process | undefined): Table {
  const slots = new Map<string, Slot>()
  const listeners: ((change: ItemChange) => void)[] = []
  const slot = (key: string): Slot => {
    const known = slots.get(key) ?? { item: undefined, before: undefined, changedAt: 0, pending: undefined }
    slots.set(key, known)
    return known
  }
  const announce = (key: string, item: Item | undefined): void => {
    for (const listener of listeners) listener({ before: slot(key).item, after: item, at: now(), by: author() })
  }
  const store = (key: string, item: Item | undefined): void => {
    const at = slot(key)
    at.before = at.item
    at.item = item
    at.changedAt = now()
  }
  return {
    name,
    now,
    slots,
    slot,
    announce,
    store,
    onChange: (listener) => void listeners.push(listener),
    change: (key, item) => {
      announce(key, item)
      store(key, item)
    },
    items: () => [...slots.values()].flatMap(({ item }) => (item === undefined ? [] : [item])),
  }
}

/** Both tables' keys are `pk` and `sk`, of text. */
export function keyOf(item: Item | undefined): string {
  return `${item?.pk?.S}\0${item?.sk?.S}`
}
