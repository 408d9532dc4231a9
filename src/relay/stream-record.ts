import { GRACE_MS, isOrderedKey, type RowKey } from '../outbox/row.ts'
import type { StreamRecord } from './lambda-event.ts'
import { keyOf, numberOf, type RowImage, type RowReading, readRow, textOf } from './row-image.ts'

/**
 * What a stream record tells: that a row was inserted. The table is the truth, so a hint may come late, twice or never.
 */
export type Hint =
  /** Nothing to do: no insert, or a row that does not wait for this relay. */
  | { readonly kind: 'skip' }
  /** An insert whose key cannot be read. */
  | { readonly kind: 'unreadable' }
  /** An ordered row: its group is read from the table, whatever the image says. */
  | (Taken & { readonly kind: 'group' })
  /** An unordered row, fresh enough to be sent from its image. */
  | (Taken & { readonly kind: 'image'; readonly reading: RowReading })
  /** An unordered row whose image is older than the grace, or missing: the table is asked first. */
  | (Taken & { readonly kind: 'read-back' })

export type Taken = {
  readonly key: RowKey
  /** The record's number in its shard: what Lambda is told if the record has to come again. */
  readonly number: string
  /** A row that the sweeper cannot see: in no index, because it has no `due`. Only foreign rows. */
  readonly unlisted?: { readonly shard: string }
}

/** Reads a record. Takes INSERTs of pending rows of `regions` only; never throws, whatever the record looks like. */
export function readRecord(record: StreamRecord, at: { regions: ReadonlySet<string>; now: number }): Hint {
  // `null` too counts as missing: whoever hands records over need not be typed.
  const change = record?.dynamodb ?? undefined
  if (record?.eventName !== 'INSERT' || change === undefined) return { kind: 'skip' }
  const image = change.NewImage ?? undefined
  const key = keyOf(change.Keys) ?? keyOf(image)
  if (key === undefined) return { kind: 'unreadable' }
  const taken = { key, number: change.SequenceNumber ?? '', ...unlisted(image) }
  if (image === undefined) return { ...taken, kind: isOrderedKey(key) ? 'group' : 'read-back' }
  const reading = readRow(keyOf(image) === undefined ? { ...change.Keys, ...image } : image, at.regions)
  if (reading.kind === 'settled' || reading.kind === 'pull' || reading.kind === 'elsewhere') return { kind: 'skip' }
  if (isOrderedKey(key)) return { ...taken, kind: 'group' }
  return isOld(record, at.now) ? { ...taken, kind: 'read-back' } : { ...taken, kind: 'image', reading }
}

/** By the row or by the record, whichever says it is older: a writer's clock may be wrong. */
function isOld({ dynamodb }: StreamRecord, now: number): boolean {
  const created = numberOf(dynamodb?.NewImage?.['created']) ?? now
  const recorded = (dynamodb?.ApproximateCreationDateTime ?? now / 1000) * 1000
  return now - Math.min(created, recorded) > GRACE_MS
}

function unlisted(image: RowImage | undefined): Pick<Taken, 'unlisted'> {
  const shard = textOf(image?.['shard'])
  return shard === undefined || image?.['due'] !== undefined ? {} : { unlisted: { shard } }
}
