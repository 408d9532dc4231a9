import { type Answer, decideRow } from './decide-row.ts'
import type { Chunk, OrderedReading } from './group-chunk.ts'
import { outgoingMessage } from './outgoing-message.ts'
import { countOddity } from './relay-unordered.ts'
import type { MalformedRow, PendingRow } from './row-image.ts'
import { READ_AGE_MS, type Run } from './run.ts'
import { buryRow, noteAccepted } from './settle-row.ts'

/** One group on its way through one run. */
export type Lane = {
  /** Sequence of the last row dealt with. */
  last: number | undefined
  /** An earlier row is still pending: nothing after it may be marked or dead-lettered. */
  broken: boolean
  /** Destinations that did not take a row: they get nothing later of this group. */
  readonly silent: Set<string>
  readonly settled: Set<number>
  /** Marks under way, for the row that may only be dead-lettered once they have landed. */
  marks: Promise<boolean>[]
}

export function openLane(below: number | undefined): Lane {
  return { last: below, broken: false, silent: new Set(), settled: new Set(), marks: [] }
}

type Work = {
  readonly row: PendingRow
  readonly sequence: number
  readonly destinations: readonly string[]
  readonly answers: Map<string, Answer>
}

/** Consecutive rows that can be sent, and the one that ends them. */
type Stretch = { readonly works: Work[]; wall?: OrderedReading }

/**
 * Sends and settles the rows of a chunk in order. False if the group cannot go on in this run: a row stands in the way
 * (no route, a newer format, another Region's, malformed and not buried), no destination is left, or the time is over.
 */
export async function relayChunk(run: Run, lane: Lane, { readings, readAt }: Chunk): Promise<boolean> {
  for (const { works, wall } of stretches(run, readings)) {
    await relayStretch(run, lane, { works, notAfter: readAt + READ_AGE_MS })
    if (wall !== undefined && !(await passWall(run, lane, wall))) return false
  }
  for (const { kind, sequence } of readings) if (kind === 'settled') lane.settled.add(sequence)
  lane.last = readings.at(-1)?.sequence ?? lane.last
  return !run.over() && [...run.senders.values()].some(({ name, paused }) => !paused() && !lane.silent.has(name))
}

function stretches(run: Run, readings: readonly OrderedReading[]): Stretch[] {
  const all: Stretch[] = [{ works: [] }]
  for (const reading of readings) {
    const stretch = all.at(-1)
    if (stretch === undefined || reading.kind === 'settled' || reading.kind === 'pull') continue
    const work = reading.kind === 'pending' ? workOf(run, reading.row, reading.sequence) : undefined
    if (work !== undefined && work.destinations.length > 0) stretch.works.push(work)
    else {
      stretch.wall = reading
      all.push({ works: [] })
    }
  }
  return all
}

function workOf(run: Run, row: PendingRow, sequence: number): Work {
  return { row, sequence, destinations: run.destinationsOf(row), answers: new Map() }
}

/** A malformed row is dead-lettered in its turn; any other row in the way stays pending, and so does all after it. */
async function passWall(run: Run, lane: Lane, wall: OrderedReading): Promise<boolean> {
  countOddity(run, wall)
  if (wall.kind === 'pending') run.telemetry.count('unroutedRows')
  return wall.kind === 'malformed' && buryInTurn(run, lane, wall)
}

/** Every destination gets its rows in turn, beside the others. A refused row that dies makes way for those after it. */
async function relayStretch(
  run: Run,
  lane: Lane,
  { works, notAfter }: { readonly works: readonly Work[]; readonly notAfter: number },
): Promise<void> {
  for (const { row } of works) if (row.derivedId) run.telemetry.count('foreignRows')
  for (let open = works; open.length > 0; ) {
    await Promise.all([...run.senders.keys()].map((name) => sendInTurn(run, lane, { name, works: open, notAfter })))
    const buried = await settleWorks(run, lane, open)
    if (buried === undefined) return
    open = open.slice(open.indexOf(buried) + 1)
  }
}

/** One entry after the other to one destination, up to the first that it does not take. */
async function sendInTurn(
  run: Run,
  lane: Lane,
  { name, works, notAfter }: { readonly name: string; readonly works: readonly Work[]; readonly notAfter: number },
): Promise<void> {
  for (const { row, destinations, answers } of works) {
    if (lane.silent.has(name)) return
    if (!destinations.includes(name) || row.accepted.has(name) || answers.has(name)) continue
    const answer: Answer | undefined = await run.senders.get(name)?.send(outgoingMessage(row), notAfter)
    if (answer === undefined) continue
    answers.set(name, answer)
    if (answer.status !== 'accepted') lane.silent.add(name)
  }
}

/** Marks the longest prefix that is accepted everywhere. Gives the row that was dead-lettered, if one was. */
async function settleWorks(run: Run, lane: Lane, works: readonly Work[]): Promise<Work | undefined> {
  for (const [index, work] of works.entries()) {
    const { row, destinations, answers, sequence } = work
    const decision = decideRow({ destinations, accepted: row.accepted, answers, inTurn: !lane.broken })
    const isBuried = decision.kind === 'dead' && (await buryInTurn(run, lane, { ...decision, kind: 'refused', row }))
    if (decision.kind !== 'relay' && !isBuried) {
      lane.broken = true
      await Promise.all(
        works.slice(index).map((later) => noteAccepted(run, later.row, namesWith(later.answers, 'accepted'))),
      )
      return undefined
    }
    lane.settled.add(sequence)
    if (isBuried) {
      for (const name of namesWith(answers, 'refused')) lane.silent.delete(name)
      return work
    }
    lane.marks.push(run.marker.mark(row))
  }
  return undefined
}

function namesWith(answers: ReadonlyMap<string, Answer>, wanted: Answer['status']): string[] {
  return [...answers].flatMap(([name, { status }]) => (status === wanted ? [name] : []))
}

type RefusedRow = {
  readonly kind: 'refused'
  readonly row: PendingRow
  readonly reason: string
  readonly accepted: readonly string[]
}

/** Only once all earlier rows are known to be relayed or dead. */
async function buryInTurn(run: Run, lane: Lane, grave: MalformedRow | RefusedRow): Promise<boolean> {
  if (lane.broken) return false
  await run.marker.flush()
  const landed = await Promise.all(lane.marks)
  lane.marks = []
  if (landed.includes(false)) return false
  if (grave.kind === 'refused') return buryRow(run, grave.row, { cause: grave.reason, accepted: grave.accepted })
  return buryRow(run, { ...grave, ...grave.key }, { cause: `malformed: ${grave.reason}` })
}
