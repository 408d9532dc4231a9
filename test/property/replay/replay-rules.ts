import { decodeLifeNote } from '../../../src/event/life.ts'
import { rowState } from '../../../src/outbox/row.ts'
import { type ItemChange, keyOf } from '../model/engine/table.ts'
import type { Item } from '../model/engine/values.ts'
import type { Selection } from './plan.ts'
import { SOURCE, type World } from './world.ts'

/** Reads of a scan may be this old. ms */
const STALE_MS = 2000

/** One replay, from its beginning: what it was to move, and what it has moved. */
export type Round = {
  readonly life: number
  readonly selection: Selection
  /** Keys of rows that it finds relayed, unless another round takes them away. */
  readonly wanted: Set<string>
  readonly moved: Set<string>
  ended: boolean
}

/** The rules of each row and each record that a replay writes. Gives the rounds so far. */
export function watchReplays(world: World): readonly Round[] {
  const rounds: Round[] = []
  const relayed = world.outbox.items().filter(({ shard }) => rowState(shard?.S) === 'relayed')
  const relayedAt = new Map<string, number>(relayed.map((item) => [keyOf(item), 0]))
  world.outbox.onChange((change) => {
    const { after, at, before } = change
    if (after === undefined) return
    const key = keyOf(after)
    if (after.pk?.S === 'H#replay') noteRecord(world, { change, rounds, relayedAt })
    if (after.pk?.S?.startsWith('H#')) return
    if (rowState(after.shard?.S) === 'relayed') relayedAt.set(key, at)
    else relayedAt.delete(key)
    if (before === undefined || change.by?.role !== 'operator') return
    const note = noteOf(after)
    const round = rounds.find(
      ({ life, selection }) => life === note?.life && `${selection.handlers}` === `${note.handlers}`,
    )
    const fault = round === undefined ? 'moved for no replay' : faultOfMove(before, after, round)
    const event = world.events.find((one) => one.key === key)
    if (fault !== undefined) world.breach(`${change.by.name}, ${world.story.nameOf(event?.id ?? '')}: ${fault}`)
    if (round !== undefined && isOvertaken(world, key, round))
      world.breach(`${change.by.name} moved ${world.story.nameOf(event?.id ?? '')} after later ones of its group`)
    // It is no longer there for the others.
    for (const { wanted, moved } of rounds) if (!moved.has(key)) wanted.delete(key)
    round?.wanted.add(key)
    round?.moved.add(key)
  })
  return rounds
}

type Noted = {
  readonly change: ItemChange
  readonly rounds: Round[]
  readonly relayedAt: ReadonlyMap<string, number>
}

function noteRecord(world: World, { change: { before, after, at, by }, rounds, relayedAt }: Noted): void {
  const life = Number(after?.life?.N)
  if (after?.life?.N === before?.life?.N) {
    const round = rounds.find((one) => one.life === life)
    if (round !== undefined && after?.ended !== undefined) round.ended = true
    return
  }
  const order = by === undefined ? undefined : world.orders.get(by)
  if (order === undefined) {
    world.breach('a replay that nobody ordered')
    return
  }
  if (before !== undefined && !order.again) world.breach(`${by?.name} began anew what had ended, and was not told to`)
  if (before !== undefined && before.ended === undefined) world.breach(`${by?.name} began anew what is under way`)
  const { selection } = order
  const wanted = [...relayedAt].filter(([key, since]) => {
    const { type, forgotten, created } = world.outbox.slot(key).item ?? {}
    const isMeant = selection.type === undefined || selection.type === type?.S
    return isMeant && forgotten === undefined && Number(created?.N) < life && since <= at - STALE_MS
  })
  rounds.push({ life, selection, wanted: new Set(wanted.map(([key]) => key)), moved: new Set(), ended: false })
}

/** Rows of a group are moved in turn, so that no sweep meets a later one alone. */
function isOvertaken(world: World, key: string, { moved, wanted }: Round): boolean {
  const [group, sequence = ''] = key.split('\0')
  const isLater = (other: string): boolean => {
    const [pk, sk = ''] = other.split('\0')
    return pk === group && sk > sequence
  }
  return wanted.has(key) && !moved.has(key) && world.events.some((event) => moved.has(event.key) && isLater(event.key))
}

/** Relayed, waiting again: as the next round, for the handlers named, to every destination. */
function faultOfMove(before: Item, after: Item, { life, selection }: Round): string | undefined {
  // Once another replay has had it, nothing in the row tells; the ledger does.
  if (noteOf(before)?.life === life) return 'moved twice by one replay'
  if (rowState(before.shard?.S) !== 'relayed' || rowState(after.shard?.S) !== 'pending') return 'was not relayed'
  if (before.forgotten !== undefined) return 'forgotten, and replayed'
  if (selection.type !== undefined && after.type?.S !== selection.type) return 'of another type'
  if (!before.pk?.S?.slice(2).startsWith(`${SOURCE}/`) || Number(before.created?.N) >= life) return 'not meant'
  if (Number(after.redrives?.N) !== Number(before.redrives?.N ?? 0) + 1) return 'not in its next round'
  if (after.expires !== undefined) return 'waits, and expires'
  return noteOf(after)?.handlers.join() === selection.handlers.join() ? undefined : 'for other handlers'
}

export function noteOf({ note }: Item) {
  return decodeLifeNote(note?.S ?? '')
}
