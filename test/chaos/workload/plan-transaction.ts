import type { NewEvent } from '../../../src/event/event.ts'
import { pick, whole } from '../draw.ts'
import { type HandlerName, SIDE_MAX_BYTES, TYPES, type TypeName } from '../topology.ts'
import type { EventData, Trouble } from './event-data.ts'

/** Of an event with a number of its own, which is given once the aggregate has been read. */
export type Unnumbered = {
  readonly source: string
  readonly type: TypeName
  readonly group: string
  readonly data: EventData
}

/** One transaction of a writer. It also puts a record of itself, under a condition that holds once. */
export type PlannedTransaction =
  /** Ordered events with `auto` numbers, and unordered ones of their own keys. */
  | { readonly kind: 'plain'; readonly events: readonly NewEvent<EventData>[] }
  /** The same through `collect`; the events of an inner one that throws are dropped. */
  | {
      readonly kind: 'collected'
      readonly events: readonly NewEvent<EventData>[]
      readonly dropped: readonly NewEvent<EventData>[]
    }
  /** Numbered events under an aggregate's condition. */
  | { readonly kind: 'numbered'; readonly aggregate: string; readonly events: readonly Unnumbered[] }
  /** A keyed event that may be stored already, equal or not. `cancel`: it is the transaction's idempotency key. */
  | {
      readonly kind: 'keyed'
      readonly onExisting: 'cancel' | 'commit'
      readonly key: string
      readonly variant: number
      readonly events: readonly NewEvent<EventData>[]
    }
  /** A condition of the caller's own fails: nothing of it may have an effect. */
  | { readonly kind: 'refused'; readonly events: readonly NewEvent<EventData>[] }

export type PlanRequest = {
  readonly random: () => number
  /** The transaction's name, unique in the run. */
  readonly tx: string
  /** How many this writer has written before. */
  readonly count: number
}

const ORDERED_TYPES = [
  ['step', 42],
  ['pair', 8],
  ['ping', 30],
  ['both', 10],
  ['aside', 10],
] as const
const AUTO_GROUPS = 120
const AGGREGATES = 16
const NOTHING = undefined

export function planTransaction({ random, tx, count }: PlanRequest): PlannedTransaction {
  const kind = pick(random, [
    ['plain', 56],
    ['numbered', 22],
    ['keyed', 12],
    ['collected', 6],
    ['refused', 4],
  ] as const)
  switch (kind) {
    case 'plain':
    case 'refused':
      return { kind, events: mixedEvents(random, tx) }
    case 'collected':
      return { kind, events: mixedEvents(random, tx), dropped: mixedEvents(random, tx) }
    case 'numbered': {
      const aggregate = `v${whole(random, 0, AGGREGATES - 1)}`
      const events = Array.from({ length: whole(random, 1, 4) }, (): Unnumbered => {
        const type = pick(random, ORDERED_TYPES)
        return { source: 'depot', type, group: aggregate, data: dataOf(random, type, tx) }
      })
      return { kind, aggregate, events }
    }
    case 'keyed':
      return planKeyed(random, tx, count)
  }
}

function mixedEvents(random: () => number, tx: string): NewEvent<EventData>[] {
  const groups = random() < 0.7 ? [autoGroup(random)] : [autoGroup(random), autoGroup(random)]
  const ordered = groups.flatMap((group) =>
    Array.from({ length: whole(random, 2, 5) }, (): NewEvent<EventData> => {
      const type = pick(random, ORDERED_TYPES)
      return { source: 'shop', type, group, sequence: 'auto', data: dataOf(random, type, tx) }
    }),
  )
  const unordered = Array.from({ length: whole(random, 0, 16) }, (_, n): NewEvent<EventData> => {
    const type = pick(random, [
      ['bell', 8],
      ['note', 2],
      ['both', 1],
    ] as const)
    return { source: 'shop', type, key: `own-${tx}-${n}`, data: dataOf(random, type, tx) }
  })
  return [...ordered, ...unordered]
}

/** Three groups get a fifth of all. */
function autoGroup(random: () => number): string {
  return random() < 0.2 ? `g${whole(random, 0, 2)}` : `g${whole(random, 3, AUTO_GROUPS - 1)}`
}

/** A key that others write too, mostly with equal content; under `commit` beside an event that is new. */
function planKeyed(random: () => number, tx: string, count: number): PlannedTransaction {
  const key = `shared-${Math.floor(count / 10) * 4 + whole(random, 0, 30)}`
  const variant = random() < 0.1 ? 1 : 0
  const shared = { source: 'depot', type: 'note', key, data: { variant } } as const
  const onExisting = pick(random, [
    ['cancel', 2],
    ['commit', 1],
  ] as const)
  const more = onExisting === 'commit' ? mixedEvents(random, tx) : []
  return { kind: 'keyed', onExisting, key, variant, events: [shared, ...more] }
}

function dataOf(random: () => number, type: TypeName, tx: string): EventData {
  const { to, handlers } = TYPES[type]
  const trouble = troubleOf(random, handlers)
  const applies = (handlers as readonly string[]).includes('main/apply')
  const isLong = (to as readonly string[]).includes('side') && random() < 0.02
  return {
    tx,
    ...(trouble === NOTHING ? {} : { trouble }),
    ...(applies && random() < 0.08 ? { follow: true } : {}),
    ...(applies && random() < 0.08 ? { trail: `t${whole(random, 0, 5)}` } : {}),
    ...(isLong ? { pad: 'x'.repeat(SIDE_MAX_BYTES) } : {}),
  }
}

function troubleOf(random: () => number, handlers: readonly HandlerName[]): Trouble | undefined {
  const kind = pick(random, [
    [NOTHING, 0.935],
    ['fails', 0.02],
    ['poison', 0.002],
    ['permanent', 0.003],
    ['slow', 0.003],
    ['hangs', 0.001],
    ['crashes', 0.002],
    ['swallows', 0.024],
    ['throws-after', 0.01],
  ] as const)
  if (kind === NOTHING) return undefined
  const handler = pick(
    random,
    handlers.map((name) => [name, 1] as const),
  )
  return kind === 'fails' ? { handler, kind, times: whole(random, 1, 3) } : { handler, kind }
}
