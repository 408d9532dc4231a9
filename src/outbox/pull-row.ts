import { decodeBody } from '../event/codec.ts'
import type { Event } from '../event/event.ts'
import { eventId } from '../event/identity.ts'
import { decodeLifeNote, isPossibleNote, type LifeNote } from '../event/life.ts'
import type { RowVersion, StoredRow } from './pull-store.ts'
import { identityOf, isDueAt, ROW_VERSION, type RowKey, rowState } from './row.ts'

/** A waiting row as it was read. */
export type Seen = {
  readonly key: RowKey
  readonly version: RowVersion
  /** Claims spent. */
  readonly claims: number
}

/** A row that waits for pull workers, with all that is needed to claim it. */
export type PullRow = Seen & {
  readonly event: Event
  /** Set on a row that was dead or relayed: a later round, for these handlers only. */
  readonly note?: LifeNote
}

/** What a stored row means to a worker. A reading never throws: what cannot be understood is `malformed`. */
export type PullReading =
  | { readonly kind: 'waiting'; readonly row: PullRow }
  /** Relayed, dead, a relay's, or gone. */
  | { readonly kind: 'passed' }
  /** Written by a newer version of this package: stays pending. */
  | { readonly kind: 'newer' }
  /** Another Region's: its workers take it. */
  | { readonly kind: 'elsewhere' }
  /** `reason` names attributes, never values. */
  | (Seen & { readonly kind: 'malformed'; readonly reason: string })

/** Reads a row for workers of one source in one Region. */
export function readPullRow(
  stored: StoredRow | undefined,
  at: { readonly source: string; readonly region: string },
): PullReading {
  const { pk, sk, shard, region, v, due, token, claims = 0, body, note } = stored ?? {}
  if (typeof pk !== 'string' || typeof sk !== 'string' || typeof shard !== 'string') return { kind: 'passed' }
  if (rowState(shard) !== 'pull') return { kind: 'passed' }
  if (region !== undefined && region !== at.region) return { kind: 'elsewhere' }
  if (typeof v === 'number' && v > ROW_VERSION) return { kind: 'newer' }
  const key = { pk, sk }
  const version = { shard, token: textOf(token), due: numberOf(due) }
  const malformed = (reason: string): PullReading => ({
    kind: 'malformed',
    key,
    version,
    claims: numberOf(claims) ?? 0,
    reason,
  })
  const identity = identityOf(key)
  if (identity?.source !== at.source)
    return malformed('the key has none of the two forms, or another source than `shard`')
  if (region === undefined) return malformed('`region` is missing')
  if (!Number.isSafeInteger(claims)) return malformed('`claims` is no whole number')
  if (typeof body !== 'string') return malformed('`body` is missing or no text')
  const decoded = decodeBody(body)
  if (!decoded.ok) return malformed(decoded.reason)
  const event = decoded.own ? decoded.event : { ...decoded.event, id: eventId(identity) }
  const decodedNote = decodeLifeNote(textOf(note) ?? '')
  if (decodedNote !== undefined && !isPossibleNote(decodedNote))
    return malformed('`note` names too many handlers, or one that cannot be')
  const round = decodedNote === undefined ? {} : { note: decodedNote }
  return { kind: 'waiting', row: { key, version, claims: claims as number, event, ...round } }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

export type PullDecision =
  | { readonly action: 'claim'; readonly row: PullRow }
  /** Dead-letter it, alone. */
  | (Seen & { readonly action: 'bury'; readonly reason: string; readonly malformed: boolean })
  /** Somebody holds it, it waits for its next try, or it is not for this worker. */
  | { readonly action: 'leave'; readonly why: 'wait' | 'passed' | 'newer' | 'elsewhere' }

/**
 * Decides what a worker may do with a row as it stands, if it is the head of its group or has none. A claim that lapsed is
 * spent: the one after the last allowed dead-letters, so that an event that ends each process that takes it ends too.
 */
export function decidePull(
  reading: PullReading,
  { now, maxClaims }: { readonly now: number; readonly maxClaims: number },
): PullDecision {
  if (reading.kind === 'malformed') {
    const { key, version, claims, reason } = reading
    return { action: 'bury', key, version, claims, reason: `malformed: ${reason}`, malformed: true }
  }
  if (reading.kind !== 'waiting') return { action: 'leave', why: reading.kind }
  const { row } = reading
  const { key, version, claims } = row
  if (!isDueAt(version.due ?? 0, now)) return { action: 'leave', why: 'wait' }
  if (claims < maxClaims) return { action: 'claim', row }
  const reason = `claimed ${claims} times, and the last claim lapsed without an answer`
  return { action: 'bury', key, version, claims, reason, malformed: false }
}
