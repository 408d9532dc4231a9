import { OUTBOX_TABLE } from '../../../../src/tables.ts'
import { keyOf } from './table.ts'
import type { Item } from './values.ts'

const INCLUDED = ['pk', 'sk', 'shard', 'due', ...(OUTBOX_TABLE.index?.include ?? [])]

/** The outbox table's index: by `due`, with the attributes that are projected into it. */
export const ROW_INDEX = {
  order: (a: Item, b: Item): number => {
    const difference = Number(a.due?.N) - Number(b.due?.N)
    if (difference !== 0) return difference
    return keyOf(a) < keyOf(b) ? -1 : keyOf(a) === keyOf(b) ? 0 : 1
  },
  project: (item: Item): Item => Object.fromEntries(Object.entries(item).filter(([name]) => INCLUDED.includes(name))),
}
