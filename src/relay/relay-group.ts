import { jitter } from '../backoff.ts'
import { formatSequence } from '../event/identity.ts'
import type { GroupStart } from './find-tail.ts'
import { type Chunk, isPassed, type OrderedReading, readChunk } from './group-chunk.ts'
import { type Lane, openLane, relayChunk } from './relay-chunk.ts'
import type { Run } from './run.ts'

/** Reads in a row that may show a row without the one before it, before the group is left to the sweeper. */
const TORN_READS = 5

export type GroupEnd = {
  /** Sequences that are relayed or dead. */
  readonly settled: ReadonlySet<number>
  /** Some destination did not take a row. */
  readonly unsent: boolean
  /** Nothing more of this group can be done in this run. */
  readonly stopped: boolean
  /** Highest sequence that was dealt with. */
  readonly reached?: number
}

/**
 * Relays a group upward from its start, chunk by chunk (read, send, mark), until no pending row follows, the newest
 * row it was asked for is passed, the time is over, or no destination goes on. Throws if the table does not answer; what was accepted by then stays accepted.
 */
export async function relayGroup(run: Run, pk: string, start: GroupStart): Promise<GroupEnd> {
  const { newest = Number.POSITIVE_INFINITY } = start
  const lane = openLane(start.below)
  let chunk: Chunk | undefined = start.chunk
  for (let torn = 0; chunk !== undefined; ) {
    const whole = await countWhole(run, lane, { pk, readings: chunk.readings })
    const goesOn = await relayChunk(run, lane, { ...chunk, readings: chunk.readings.slice(0, whole) })
    if (!goesOn) return endOf(lane, true)
    const gap = chunk.readings[whole]
    torn = gap === undefined ? 0 : torn + 1
    if (torn > TORN_READS) return endOf(lane, true)
    if (torn > 0) await run.clock.sleep(jitter(torn, run.clock.random))
    chunk = await readNext(run, lane, { pk, chunk, gap, newest })
  }
  return endOf(lane, false)
}

/**
 * How many readings can be sent before the first whose predecessor may be missing. A Query is no snapshot of a
 * transaction: it may show N and not yet N−1 of the same commit. Only a row that waits, and has a gap before it, is asked
 * for.
 */
async function countWhole(
  run: Run,
  lane: Lane,
  { pk, readings }: { readonly pk: string; readonly readings: readonly OrderedReading[] },
): Promise<number> {
  let last = lane.last
  for (const [index, reading] of readings.entries()) {
    const { sequence } = reading
    const checked = isPassed(reading) || sequence <= 1 || last === sequence - 1
    last = sequence
    if (checked) continue
    const pair = { pk, before: formatSequence(sequence - 1), sk: formatSequence(sequence) }
    if ((await run.ask((store, signal) => store.readBefore(pair, signal))) !== 'absent') return index
  }
  return readings.length
}

async function readNext(
  run: Run,
  lane: Lane,
  { pk, chunk, gap, newest }: { pk: string; chunk: Chunk; gap: OrderedReading | undefined; newest: number },
): Promise<Chunk | undefined> {
  if (gap !== undefined) return readChunk(run, pk, gap.sequence - 1)
  if (!chunk.more || lane.last === undefined || chunk.readings.every(isPassed)) return undefined
  return lane.last >= newest ? undefined : readChunk(run, pk, lane.last + 1)
}

function endOf(lane: Lane, stopped: boolean): GroupEnd {
  const reached = lane.last === undefined ? {} : { reached: lane.last }
  return { settled: lane.settled, unsent: lane.silent.size > 0, stopped, ...reached }
}
