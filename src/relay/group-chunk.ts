import { formatSequence } from '../event/identity.ts'
import { isOrderedKey } from '../outbox/row.ts'
import { type RowImage, type RowReading, readRow } from './row-image.ts'
import type { Run } from './run.ts'

/** Rows of a group read and sent at a time. */
export const CHUNK_ROWS = 25

/** A row of a group; `unreadable` cannot occur, since it was read by its key. */
export type OrderedReading = Exclude<RowReading, { kind: 'unreadable' }> & { readonly sequence: number }

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
  return { readings: orderedReadings(images, run.regions), more, readAt }
}

export function orderedReadings(images: readonly RowImage[], regions: ReadonlySet<string>): OrderedReading[] {
  return images.flatMap((image) => {
    const reading = readRow(image, regions)
    if (reading.kind === 'unreadable' || !isOrderedKey(reading.key)) return []
    return [{ ...reading, sequence: Number(reading.key.sk) }]
  })
}

/** Relayed, dead, or a pull worker's: not waiting for this relay. */
export function isPassed({ kind }: OrderedReading): boolean {
  return kind === 'settled' || kind === 'pull'
}
