import { GRACE_MS, identityOf, rowState } from '../../../src/outbox/row.ts'
import { type Books, type Committed, committedOf } from './books.ts'
import type { Table } from './engine/table.ts'
import type { Item } from './engine/values.ts'
import { ROUTES } from './plan.ts'

/** How long a relayed row is kept, seconds, give or take the clocks. */
const KEEP_SECONDS = { min: 86_400 * 6.9, max: 86_400 * 7.1 }

export type Broker = {
  /** Whether a queue has accepted that round of an event. */
  readonly has: (queue: string, deduplicationId: string) => boolean
  readonly refuses: (queue: string, body: string) => boolean
}

type Move = {
  readonly before: Item
  readonly after: Item
  readonly row: Committed
  readonly destinations: readonly string[]
}

/**
 * The state machine of a row, told of each change as it is made:
 *
 *     absent ─▶ pending ─▶ relayed ─(expiry)─▶ absent
 *                 ▲  └───▶ dead
 *                 └── redrive ┘
 */
export function watchRows(table: Table, books: Books, broker: Broker): void {
  const names = (row: Committed): string => `${row.pk} ${Number(row.sk) || ''}`
  const wrong = (row: Committed, text: string): void => books.breach(`row ${names(row)}: ${text}`)

  table.onChange(({ before, after, at }) => {
    const item = after ?? before
    const row = item === undefined ? undefined : committedOf(item, at)
    if (item === undefined || row === undefined || identityOf(row) === undefined) return
    if (before === undefined) return inserted(row, item)
    if (after === undefined)
      return rowState(before.shard?.S) === 'relayed' ? undefined : wrong(row, 'deleted before it was relayed')
    const move = { before, after, row, destinations: destinationsOf(row) }
    moved(move, `${rowState(before.shard?.S)} → ${rowState(after.shard?.S)}`)
  })

  const inserted = (row: Committed, item: Item): void => {
    if (
      rowState(item.shard?.S) !== 'pending' ||
      Number(item.due?.N) !== row.life + GRACE_MS ||
      item.expires !== undefined
    )
      wrong(row, 'inserted in another state than pending')
    if ('group' in row.identity && books.committed.some(({ id }) => id === row.id)) wrong(row, 'a number came back')
    // A number below one that is there already comes late, and has no place any more.
    if (books.committed.some(({ pk, sk }) => pk === row.pk && sk > row.sk)) books.displaced.add(row.id)
    books.committed.push(row)
  }
  const moved = (move: Move, transition: string): void => {
    const { row, before, after } = move
    if (['body', 'type', 'instance', 'created', 'region'].some((name) => before[name]?.S !== after[name]?.S))
      wrong(row, 'its content was changed')
    const check = checks[transition]
    if (check === undefined) wrong(row, `moved ${transition}`)
    check?.(move)
  }
  const relayed = ({ row, before, after, destinations }: Move): void => {
    const seconds = Number(after.expires?.N) - table.now() / 1000
    if (!(seconds > KEEP_SECONDS.min && seconds < KEEP_SECONDS.max)) wrong(row, `expires in ${seconds} s`)
    if (before.redrives?.N !== after.redrives?.N) wrong(row, 'relayed in another round')
    for (const queue of missing(before, row, destinations)) wrong(row, `relayed, but ${queue} has not accepted it`)
    for (const earlier of earlierPending(row)) {
      const left = missing(earlier, committed(earlier), destinationsOf(committed(earlier)))
      if (left.length > 0) wrong(row, `relayed before ${names(committed(earlier))}, which ${left} has not accepted`)
    }
  }
  const died = ({ row, before, after, destinations }: Move): void => {
    books.displaced.add(row.id)
    if (after.expires !== undefined) wrong(row, 'dead, and expires')
    if (after.failure?.S === undefined) wrong(row, 'dead without a reason')
    const malformed = before.body?.S === ''
    const refusing = destinations.filter((queue) => broker.refuses(queue, row.body))
    if (!malformed && refusing.length === 0) wrong(row, 'dead, though nobody refuses it')
    const others = missing(before, row, destinations).filter((queue) => !refusing.includes(queue))
    if (!malformed && others.length > 0) wrong(row, `dead, though ${others} has not accepted it`)
    const took = destinations.filter((queue) => !refusing.includes(queue) && broker.has(queue, roundOf(before, row)))
    const forgotten = took.filter((queue) => !after.accepted?.SS?.includes(queue))
    if (forgotten.length > 0) wrong(row, `dead, and that ${forgotten} has it was forgotten`)
    for (const earlier of earlierPending(row)) wrong(row, `dead before ${names(committed(earlier))}`)
  }
  const redriven = ({ row, before, after }: Move): void => {
    if (Number(after.redrives?.N) !== Number(before.redrives?.N ?? 0) + 1) wrong(row, 'redriven within its round')
    if (after.expires !== undefined) wrong(row, 'pending, and expires')
    if (!sameSet(before.accepted?.SS, after.accepted?.SS)) wrong(row, 'redriven, and who took it was forgotten')
  }
  const noted = ({ row, before, after, destinations }: Move): void => {
    const taken = (after.accepted?.SS ?? []).filter((name) => !before.accepted?.SS?.includes(name))
    if ((before.accepted?.SS ?? []).some((name) => !after.accepted?.SS?.includes(name)))
      wrong(row, 'acceptance taken back')
    for (const queue of taken)
      if (!destinations.includes(queue) || !broker.has(queue, roundOf(before, row)))
        wrong(row, `${queue} has not accepted it`)
  }

  const checks: Readonly<Record<string, (move: Move) => void>> = {
    'pending → relayed': relayed,
    'pending → dead': died,
    'dead → pending': redriven,
    'pending → pending': noted,
  }
  const committed = (item: Item): Committed => committedOf(item, 0) as Committed
  const missing = (item: Item, row: Committed, destinations: readonly string[]): string[] =>
    destinations.filter((queue) => !item.accepted?.SS?.includes(queue) && !broker.has(queue, roundOf(item, row)))
  /** Rows of the group that were there first, are lower and still pending in their first round. */
  const earlierPending = (row: Committed): Item[] =>
    books.committed
      .filter((other) => other.pk === row.pk && other.sk < row.sk && wasFirst(books, other, row))
      .filter(({ id }) => !books.displaced.has(id))
      .flatMap(({ pk, sk }): Item[] => {
        const { item } = table.slot(`${pk}\0${sk}`)
        return item === undefined ? [] : [item]
      })
      .filter((item) => rowState(item.shard?.S) === 'pending' && item.redrives === undefined)
}

export function wasFirst({ committed }: Books, earlier: Committed, later: Committed): boolean {
  const own = committed.findIndex(({ id }) => id === later.id)
  return committed.findIndex(({ id }) => id === earlier.id) < (own < 0 ? committed.length : own)
}

export function destinationsOf({ type }: Pick<Committed, 'type'>): readonly string[] {
  return ROUTES[type] ?? []
}

/** The deduplication id of a row's round. */
function roundOf({ redrives }: Item, { id }: Committed): string {
  return redrives === undefined ? id : `${id}-r${redrives.N}`
}

function sameSet(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  return [...(a ?? [])].sort().join() === [...(b ?? [])].sort().join()
}
