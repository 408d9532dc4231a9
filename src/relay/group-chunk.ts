import { formatSequence } from '../event/identity.ts'
import { isOrderedKey } from '../outbox/row.ts'
import { noteOf, type RowImage, type RowReading, readRow } from './row-image.ts'
import type { Run } from './run.ts'

/** Rows of a group read and sent at a time. */
export const CHUNK_ROWS = 25

/**
 * Characters of bodies that a group holds between two reads. A page of DynamoDB's has 1 MB: a hundred groups with one each
 * would not fit in the 256 MB of a function, and a backlog of large rows would end it again and again.
 */
const CHUNK_LENGTH = 262_144

/** A row of a group; `unreadable` cannot occur, since it was read by its key. */
export type OrderedReading = Exclude<RowReading, { kind: 'unreadable' }> & {
  readonly sequence: number
  /** Waits again, for a replay: it was relayed once, and so was all before it. */
  readonly replayed: boolean
}

/** Rows of a group that follow each other in the table. */
export type Chunk = {
  /** Ascending. */
  readonly readings: readonly OrderedReading[]
  /** Whether there may be rows above. */
  readonly more: boolean
  /** ms; when the read was begun, so that it is never taken for newer than it is */
  readonly readAt: number
}

/** Reads a group upward from a sequence, inclusive. */
export async function readChunk(run: Run, pk: string, from: number): Promise<Chunk> {
  const readAt = run.clock.now()
  const range = { pk, from: formatSequence(Math.max(0, from)), limit: CHUNK_ROWS }
  const { images, more } = await run.ask((store, signal) => store.readGroup(range, signal))
  return holdable({ readings: orderedReadings(images, run.regions), more, readAt })
}

/** The chunk without the rows that are too much to hold; at least one stays. Those are read again in their turn. */
export function holdable(chunk: Chunk): Chunk {
  let length = 0
  const end = chunk.readings.findIndex((reading) => {
    const before = length
    length += reading.kind === 'pending' ? reading.row.body.length : 0
    return before > 0 && length > CHUNK_LENGTH
  })
  return end === -1 ? chunk : { ...chunk, readings: chunk.readings.slice(0, end), more: true }
}

export function orderedReadings(images: readonly RowImage[], regions: ReadonlySet<string>): OrderedReading[] {
  return images.flatMap((image) => {
    const reading = readRow(image, regions)
    if (reading.kind === 'unreadable' || !isOrderedKey(reading.key)) return []
    const replayed = !isPassed(reading) && noteOf(image) !== undefined
    return [{ ...reading, sequence: Number(reading.key.sk), replayed }]
  })
}

/** Relayed, dead, or a pull worker's: not waiting for this relay. */
export function isPassed({ kind }: Pick<OrderedReading, 'kind'>): boolean {
  return kind === 'settled' || kind === 'pull'
}
