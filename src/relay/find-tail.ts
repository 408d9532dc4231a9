import { formatSequence } from '../event/identity.ts'
import {
  CHUNK_ROWS,
  type Chunk,
  holdable,
  isPassed,
  type OrderedReading,
  orderedReadings,
  readChunk,
} from './group-chunk.ts'
import type { Run } from './run.ts'

/** Where to begin with a group. */
export type GroupStart = {
  readonly chunk: Chunk
  /** Sequence of the row right below the chunk, if that row was read. */
  readonly below?: number
  /**
   * Newest row that stood there: what is written later has a record of its own. Without it, a writer faster than the queue
   * would hold the invocation, and all other groups of its shard, until its time is over. Undefined: to the end.
   */
  readonly newest?: number
}

export type Tail =
  /** The newest row is not pending. */
  | { readonly kind: 'empty' }
  /** The start lies deeper than was looked: the sweeper's. */
  | { readonly kind: 'deep' }
  | (GroupStart & { readonly kind: 'tail' })

/** Sequences of a batch's rows of one group. */
export type BatchRange = { readonly lowest: number; readonly highest: number }

/**
 * Finds the start of a group's pending tail, downward from its newest row, in at most `limit` rows; if it lies deeper,
 * downward from the batch's own rows. Everything below the first settled row was accepted, is dead, or was redriven (and is
 * the sweeper's). A replayed row counts as settled here: of several in a group the sweeper begins with the lowest, and the
 * newest event must not take the highest along. Rows are kept from this read if the first page shows the start, else read
 * again upward. Throws if the table does not answer.
 */
export async function findTail(
  run: Run,
  pk: string,
  { limit, batch }: { readonly limit: number; readonly batch: BatchRange },
): Promise<Tail> {
  const readAt = run.clock.now()
  const descent = await descend(run, pk, { limit, keepRows: true, endsAtReplayed: true })
  if (descent.kind === 'deep') return beginWithBatch(run, pk, batch)
  const [lowest] = descent.kept
  if (descent.lowest === undefined) return { kind: 'empty' }
  const newest = descent.kept.at(-1)?.sequence ?? descent.lowest
  if (lowest !== undefined && lowest.sequence === descent.lowest) {
    return {
      kind: 'tail',
      chunk: holdable({ readings: descent.kept, more: false, readAt }),
      ...belowOf(descent),
      newest,
    }
  }
  return { kind: 'tail', chunk: await readChunk(run, pk, descent.lowest), ...belowOf(descent), newest }
}

/**
 * For a writer who is far ahead of his records: most of what was looked through belongs to later batches. What the batch
 * before this one has sent ends the descent at once; a backlog does not. A row that was sent before (its record comes
 * again) or redriven proves nothing of those above it, which may wait for a replay: it is the sweeper's.
 */
async function beginWithBatch(run: Run, pk: string, { lowest, highest }: BatchRange): Promise<Tail> {
  const descent = await descend(run, pk, { to: lowest - 1, limit: CHUNK_ROWS, keepRows: false, endsAtReplayed: true })
  if (descent.kind === 'deep') return descent
  const chunk = await readChunk(run, pk, descent.lowest ?? lowest)
  const [first] = chunk.readings
  if (first?.kind !== 'pending' || first.replayed || first.row.redrives > 0) return { kind: 'deep' }
  return { kind: 'tail', chunk, ...belowOf(descent), newest: highest }
}

/**
 * Finds where the pending rows around `sequence` begin: the index names that row, but not surely those before it.
 * Usually one read: the row before is settled, or the group begins there, and the rest of the read is the first chunk. Else
 * downward, keys only, to the first settled row. Undefined if the time ended. Throws if the table does not answer.
 */
export async function findStart(run: Run, pk: string, sequence: number): Promise<GroupStart | undefined> {
  const chunk = await readChunk(run, pk, sequence - 1)
  const [first] = chunk.readings
  if (first !== undefined && first.sequence === sequence - 1 && isPassed(first)) {
    return { chunk: await upTo(run, pk, { sequence, chunk }), below: sequence - 1 }
  }
  // Numbers begin at 1: the read above has whatever lies below.
  if (sequence <= 1) return { chunk: await upTo(run, pk, { sequence, chunk }) }
  const descent = await descend(run, pk, { to: sequence - 1, keepRows: false })
  if (descent.kind === 'deep') return undefined
  if (descent.lowest === undefined) return { chunk: await upTo(run, pk, { sequence, chunk }), ...belowOf(descent) }
  return { chunk: await readChunk(run, pk, descent.lowest), ...belowOf(descent) }
}

/** Rows that somebody else put between two numbers of a group may fill a read: then it starts at the row itself. */
async function upTo(run: Run, pk: string, { sequence, chunk }: { sequence: number; chunk: Chunk }): Promise<Chunk> {
  const isReached = !chunk.more || chunk.readings.some((reading) => reading.sequence >= sequence)
  return isReached ? chunk : readChunk(run, pk, sequence)
}

type Descent =
  | { readonly kind: 'deep' }
  | {
      readonly kind: 'found'
      /** The tail's rows of the first page, ascending. */
      readonly kept: readonly OrderedReading[]
      /** Lowest row that is not passed; undefined if there is none. */
      readonly lowest?: number
      /** The passed row that ended the descent; undefined at the group's beginning. */
      readonly below?: number
    }

function belowOf({ below }: Descent & { readonly kind: 'found' }): Pick<GroupStart, 'below'> {
  return below === undefined ? {} : { below }
}

type DescentOptions = {
  /** Highest sequence, inclusive. */
  readonly to?: number
  /** Most rows; without it, until the time is over. */
  readonly limit?: number
  /** Those of the first page; of all others only the keys are read. */
  readonly keepRows: boolean
  /** Whether a replayed row ends it, as a settled one does. */
  readonly endsAtReplayed?: boolean
}

async function descend(
  run: Run,
  pk: string,
  { to, limit = Number.POSITIVE_INFINITY, keepRows, endsAtReplayed = false }: DescentOptions,
): Promise<Descent> {
  const kept: OrderedReading[] = []
  let lowest: number | undefined
  let next = to
  for (let seen = 0; seen < limit && !run.over(); ) {
    const page = await readDown(run, pk, {
      to: next,
      limit: Math.min(limit - seen, pageSize(seen)),
      bare: !keepRows || seen > 0,
    })
    const readings = orderedReadings(page.images, run.regions)
    for (const reading of readings) {
      const ends = reading.kind === 'settled' || (endsAtReplayed && reading.replayed)
      if (ends) return found(kept, lowest, reading.sequence)
      if (!isPassed(reading)) lowest = reading.sequence
      if (keepRows && seen === 0) kept.unshift(reading)
    }
    const last = readings.at(-1)
    if (!page.more || last === undefined) return found(kept, lowest, undefined)
    seen += page.images.length
    next = last.sequence - 1
  }
  return { kind: 'deep' }
}

/** Small at first: mostly the very next row is settled. */
function pageSize(seen: number): number {
  return seen === 0 ? CHUNK_ROWS : 4 * CHUNK_ROWS
}

function found(kept: readonly OrderedReading[], lowest: number | undefined, below: number | undefined): Descent {
  return {
    kind: 'found',
    kept,
    ...(lowest === undefined ? {} : { lowest }),
    ...(below === undefined ? {} : { below }),
  }
}

async function readDown(
  run: Run,
  pk: string,
  { to, limit, bare }: { readonly to: number | undefined; readonly limit: number; readonly bare: boolean },
) {
  const range = {
    pk,
    limit,
    bare,
    descending: true,
    ...(to === undefined ? {} : { to: formatSequence(Math.max(0, to)) }),
  }
  return run.ask((store, signal) => store.readGroup(range, signal))
}
