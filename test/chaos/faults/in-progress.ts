import type { Random } from './chance.ts'
import { type ItemName, transactionItems } from './item-keys.ts'
import type { Json, LayerRequest } from './request.ts'

/**
 * A transaction on its way. `open` from before it is forwarded until its answer; with a fault it then stays `held`:
 * the engine has applied it at once, and to everybody else it looks as on DynamoDB while its items are being written one
 * by one. What has been seen once is never hidden again.
 */
export type Transaction = {
  readonly token: string
  readonly items: ReadonlySet<ItemName>
  /** Items it inserts, and that may still be unseen. */
  readonly inserts: ReadonlySet<ItemName>
  readonly hold: (random: Random) => void
  /** It is complete: everything of it shows. */
  readonly end: () => void
}

export type InProgress = {
  /** Before it is forwarded. */
  readonly open: (request: LayerRequest) => Transaction
  /** Whether a held transaction has the item. */
  readonly isHeld: (name: ItemName) => boolean
  /** Whether a held transaction has this token. */
  readonly hasToken: (token: unknown) => boolean
  /** How many inserted items of a partition are hidden now. */
  readonly hiddenIn: (partition: ItemName) => number
  /** Of a reader: whether it does not see the item. An item that it sees is seen from then on, by all. */
  readonly hides: (name: ItemName, random: Random) => boolean
  /** If not, no write can meet one. */
  readonly isAnyHeld: () => boolean
  /** Whether a transaction, open or held, inserts the item, or any of the partition (`table pk`). */
  readonly concerns: (name: ItemName) => boolean
  readonly concernsPartition: (partition: string) => boolean
}

/** How much of a held transaction is hidden at first, and how likely a look at a hidden item finds it written. */
const HIDDEN = 0.6
const WRITTEN_MEANWHILE = 0.15

export function createInProgress(): InProgress {
  const held = new Map<ItemName, Transaction>()
  const tokens = new Set<string>()
  const hidden = new Set<ItemName>()
  /** Inserts of open and held transactions: of how many, and whether somebody has seen the item. */
  const open = new Map<ItemName, { count: number; seen: boolean }>()
  /** How many of them each partition has. */
  const partitions = new Map<string, number>()

  const begin = (name: ItemName): void => {
    const known = open.get(name) ?? { count: 0, seen: false }
    known.count += 1
    open.set(name, known)
    const partition = partitionOf(name)
    partitions.set(partition, (partitions.get(partition) ?? 0) + 1)
  }
  const finish = (name: ItemName): void => {
    const known = open.get(name)
    if (known === undefined) return
    known.count -= 1
    if (known.count === 0) open.delete(name)
    const partition = partitionOf(name)
    const left = (partitions.get(partition) ?? 1) - 1
    if (left > 0) partitions.set(partition, left)
    else partitions.delete(partition)
  }

  const openTransaction = (request: LayerRequest): Transaction => {
    const input = request.input()
    const actions = transactionItems(input)
    const items = new Set(actions.map(({ name }) => name))
    const inserts = new Set(actions.flatMap(({ name, inserts: isInsert }) => (isInsert ? [name] : [])))
    const token = tokenOf(input)
    for (const name of inserts) begin(name)
    const transaction: Transaction = {
      token,
      items,
      inserts,
      hold: (random) => {
        tokens.add(token)
        for (const name of items) held.set(name, transaction)
        for (const name of inserts) if (open.get(name)?.seen === false && random() < HIDDEN) hidden.add(name)
      },
      end: () => {
        tokens.delete(token)
        for (const name of items) if (held.get(name) === transaction) held.delete(name)
        for (const name of inserts) {
          hidden.delete(name)
          finish(name)
        }
      },
    }
    return transaction
  }

  return {
    open: openTransaction,
    isHeld: (name) => held.has(name),
    hasToken: (token) => typeof token === 'string' && tokens.has(token),
    hiddenIn: (partition) => [...hidden].filter((name) => name.startsWith(`${partition} `)).length,
    hides: (name, random) => {
      if (hidden.has(name) && random() >= WRITTEN_MEANWHILE) return true
      hidden.delete(name)
      const known = open.get(name)
      if (known !== undefined) known.seen = true
      return false
    },
    isAnyHeld: () => held.size > 0,
    concerns: (name) => open.has(name),
    concernsPartition: (partition) => partitions.has(partition),
  }
}

function tokenOf(input: Json): string {
  return String(input['ClientRequestToken'] ?? '')
}

/** Neither a table's name nor a partition key has a space in the rig. */
function partitionOf(name: ItemName): string {
  return name.slice(0, name.lastIndexOf(' '))
}
