import { OutboxError } from '../errors.ts'
import { eventId, type Identity } from '../event/identity.ts'
import { ALL_DEAD_SHARDS, ALL_PENDING_SHARDS, identityOf, type RowKey, rowKey, rowState } from '../outbox/row.ts'
import { eachAtOnce } from '../pool.ts'
import { foreignId } from '../relay/row-image.ts'
import { checkOptions, invalidSetting } from '../settings.ts'
import type { Watch } from './dead-letters.ts'
import { type IndexedRow, indexedRows, readRow, readSummaries } from './dynamo-outbox-rows.ts'
import type { RowSummary } from './row-summary.ts'
import { type ScanConsent, scanFor } from './scan.ts'
import { type CheckedSystem, knownPullShards, type OutboxRows } from './system.ts'

/** An event by its id, or by its names; of an ordered event `key` is its group, a space, its sequence. */
export type EventRef = { readonly id: string } | { readonly source: string; readonly key: string }

export type FoundRow = { readonly summary: RowSummary; readonly body: string | undefined }

const SHARDS_AT_ONCE = 8
/** One request each. */
const ROWS_AT_ONCE = 100

/** Refuses (`INVALID_SETTING`) what names no event. */
export function checkRef(owner: string, ref: EventRef): void {
  checkOptions(owner, ref, 'id' in ref ? ['id'] : ['source', 'key'])
  const texts: readonly unknown[] = 'id' in ref ? [ref.id] : [ref.source, ref.key]
  if (!texts.every((text) => typeof text === 'string' && text !== ''))
    throw invalidSetting(owner, 'must be an event id, or the source and key of an event')
}

export function idOf(ref: EventRef): string {
  return 'id' in ref ? ref.id : eventId(ref)
}

/**
 * The row of an event. By its names with one read. By its id among the pending and dead rows, whose cost follows how many
 * there are; then, if that is agreed to, by a scan of the whole table. Undefined if it is not found.
 */
export async function findRow(
  system: CheckedSystem,
  ref: EventRef,
  how: Watch & ScanConsent,
): Promise<FoundRow | undefined> {
  if (!('id' in ref)) return readRow(system, rowKey(identityFrom(ref)))
  const { id } = ref
  const key = await findInIndex(system, [...ALL_DEAD_SHARDS, ...ALL_PENDING_SHARDS, ...knownPullShards(system)], id)
  if (key !== undefined) return readRow(system, key)
  if (how.onEstimate === undefined) return undefined
  const { rows } = await scanFor(system, { ...how, isWanted: (row) => row.id === id, limit: 1 })
  return rows[0] === undefined ? undefined : readRow(system, rows[0])
}

/** `orders 7` with a space in it is the key of an ordered event. */
function identityFrom({ source, key }: { readonly source: string; readonly key: string }): Identity {
  const space = key.lastIndexOf(' ')
  if (space < 0) return { source, key }
  const sequence = Number(key.slice(space + 1))
  if (Number.isSafeInteger(sequence) && sequence >= 0) return { source, group: key.slice(0, space), sequence }
  throw new OutboxError('INVALID_SETTING', 'key: what follows the space must be the sequence of an ordered event.')
}

/**
 * The row of that id in these shards of the index. The id of a row of ours is made of its key, as is that of a foreign row
 * without one; what may have an id of its own must be read, and only if no key fits.
 */
export async function findInIndex(
  system: OutboxRows,
  shards: readonly string[],
  id: string,
): Promise<RowSummary | undefined> {
  const unread: RowKey[] = []
  const read = async (keys: readonly RowKey[]): Promise<void> => {
    if (found === undefined) found = (await readSummaries(system, keys)).find((row) => row.id === id)
  }
  let found: RowSummary | undefined
  const readShard = async (shard: string): Promise<void> => {
    for await (const page of indexedRows(system, shard)) {
      if (found !== undefined) return
      const { fits = [], others = [] } = Object.groupBy(page, (row) => (idsOf(row).includes(id) ? 'fits' : 'others'))
      await read(fits)
      unread.push(...others.filter((row) => rowState(shard) === 'dead' || !looksLikeOurs(row)))
    }
  }
  await eachAtOnce(shards, SHARDS_AT_ONCE, readShard)
  for (let at = 0; at < unread.length && found === undefined; at += ROWS_AT_ONCE)
    await read(unread.slice(at, at + ROWS_AT_ONCE))
  return found
}

/** All that a row may be called by its key alone. */
function idsOf({ pk, sk }: RowKey): readonly string[] {
  const identity = identityOf({ pk, sk })
  const derived = foreignId(undefined, { pk, sk }).id
  return identity === undefined ? [derived] : [eventId(identity), derived]
}

/** There may be far too many pending rows to read them all; among the dead no appearance is trusted. */
function looksLikeOurs({ created, type, ...key }: IndexedRow): boolean {
  return created !== undefined && type !== undefined && identityOf(key) !== undefined
}
