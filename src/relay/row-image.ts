import { eventId, sha256 } from '../event/identity.ts'
import { ALL_PENDING_SHARDS, identityOf, isOrderedKey, ROW_VERSION, type RowKey, rowState } from '../outbox/row.ts'

/** An attribute value, of the SDK or of a stream record; only text, numbers and sets of text are ever read. */
export type Attribute = {
  readonly S?: string | undefined
  readonly N?: string | undefined
  readonly SS?: readonly string[] | undefined
} & { readonly [Other in 'B' | 'BOOL' | 'NULL' | 'NS' | 'BS' | 'L' | 'M' | '$unknown']?: unknown }

/** A whole row as DynamoDB gives it, in a read or in a stream record. */
export type RowImage = Readonly<Record<string, Attribute>>

/** A row that waits for this relay, with all that is needed to send it and to change it. */
export type PendingRow = RowKey & {
  /** The event's id: what a broker removes duplicates by. */
  readonly id: string
  /** Whether the id was made up here, from the key of a foreign row that has none. */
  readonly derivedId: boolean
  readonly body: string
  readonly shard: string
  readonly redrives: number
  /** Whether `redrives` is stored at all: ours begin without it, another program's may begin with 0. */
  readonly redrivesStored: boolean
  readonly accepted: ReadonlySet<string>
  readonly source?: string
  readonly type?: string
  /** `source/group`, only on ordered rows. */
  readonly group?: string
  /** ms */
  readonly created?: number
}

/** What a stored row means to this relay. A reading never throws: what cannot be understood is `malformed`. */
export type RowReading =
  | { readonly kind: 'pending'; readonly key: RowKey; readonly row: PendingRow }
  /** Relayed or dead: passed over. */
  | { readonly kind: 'settled'; readonly key: RowKey }
  /** For pull workers: passed over. */
  | { readonly kind: 'pull'; readonly key: RowKey }
  /** Written by a newer version of this package: stays pending. */
  | { readonly kind: 'newer'; readonly key: RowKey }
  /** Another Region's: its relay sends it. */
  | { readonly kind: 'elsewhere'; readonly key: RowKey }
  | MalformedRow
  /** Not even its key can be read. */
  | { readonly kind: 'unreadable' }

/** Pending, but not to be understood: dead-lettered alone. `redrives` is undefined if that is what is wrong. */
export type MalformedRow = {
  readonly kind: 'malformed'
  readonly key: RowKey
  readonly shard: string
  readonly redrives?: number
  readonly reason: string
}

/** Reads a row. `regions` are those whose rows this relay sends. */
export function readRow(image: RowImage, regions: ReadonlySet<string>): RowReading {
  const key = keyOf(image)
  if (key === undefined) return { kind: 'unreadable' }
  const shard = image['shard']?.S
  const state = rowState(shard)
  if (shard === undefined || state === 'relayed' || state === 'dead') return { kind: 'settled', key }
  if (state === 'pull') return { kind: 'pull', key }
  const region = image['region']?.S
  if (region !== undefined && !regions.has(region)) return { kind: 'elsewhere', key }
  const version = wholeNumber(image['v'])
  if (version !== undefined && version > ROW_VERSION) return { kind: 'newer', key }
  const fault = faultOf(image, key)
  const redrives = image['redrives'] === undefined ? 0 : wholeNumber(image['redrives'])
  if (fault !== undefined || redrives === undefined) {
    const reason = fault ?? '`redrives` is no whole number'
    return { kind: 'malformed', key, shard, reason, ...(redrives === undefined ? {} : { redrives }) }
  }
  const round = { redrives, redrivesStored: image['redrives'] !== undefined }
  return { kind: 'pending', key, row: { ...key, ...identify(image, key), ...content(image), shard, ...round } }
}

/** The key of a row, if it has one of text. */
export function keyOf(image: RowImage | undefined): RowKey | undefined {
  const pk = image?.['pk']?.S
  const sk = image?.['sk']?.S
  return pk === undefined || sk === undefined ? undefined : { pk, sk }
}

/** A number of milliseconds, or undefined for what is none. */
export function numberOf(attribute: Attribute | undefined): number | undefined {
  const value = Number(attribute?.N ?? Number.NaN)
  return Number.isFinite(value) ? value : undefined
}

/** What is wrong with a pending row of this Region; names attributes, never values. */
function faultOf(image: RowImage, key: RowKey): string | undefined {
  const { shard, region, v, body, type, accepted } = image
  if (!PENDING.has(shard?.S ?? '')) return '`shard` is none of p#00 to p#63'
  if (region?.S === undefined) return '`region` is missing or no text'
  if (v !== undefined && !wholeNumber(v)) return '`v` is no whole number from 1'
  if (v !== undefined && identityOf(key) === undefined) return 'the key has none of the two forms'
  if (body?.S === undefined || body.S === '') return '`body` is missing, empty or no text'
  if (type !== undefined && type.S === undefined) return '`type` is no text'
  if (accepted !== undefined && accepted.SS === undefined) return '`accepted` is no set of text'
  return undefined
}

const PENDING: ReadonlySet<string> = new Set(ALL_PENDING_SHARDS)
const ID = /^[\x21-\x7e]{1,100}$/

/** A row of ours has the id of its key. */
function identify(image: RowImage, key: RowKey): Pick<PendingRow, 'id' | 'derivedId' | 'source' | 'group'> {
  const identity = identityOf(key)
  const names = {
    ...(identity === undefined ? {} : { source: identity.source }),
    ...(isOrderedKey(key) ? { group: key.pk.slice(2) } : {}),
  }
  if (image['v'] !== undefined && identity !== undefined) return { id: eventId(identity), derivedId: false, ...names }
  return { ...foreignId(image['id'], key), ...names }
}

/**
 * The id that a foreign row (no `v`) is sent under: that of its attribute `id` if it has one, else SHA-256 of `pk|sk`. An id
 * that no broker would take as a deduplication id is replaced by its SHA-256.
 */
export function foreignId(attribute: Attribute | undefined, key: RowKey): Pick<PendingRow, 'id' | 'derivedId'> {
  const own = attribute?.S
  if (own === undefined || own === '') return { id: sha256(`${key.pk}|${key.sk}`), derivedId: true }
  return { id: ID.test(own) ? own : sha256(own), derivedId: false }
}

function content(image: RowImage): Pick<PendingRow, 'body' | 'accepted' | 'type' | 'created'> {
  const { body, accepted, type } = image
  const created = numberOf(image['created'])
  return {
    body: body?.S ?? '',
    accepted: new Set(accepted?.SS ?? []),
    ...(type?.S === undefined ? {} : { type: type.S }),
    ...(created === undefined ? {} : { created }),
  }
}

function wholeNumber(attribute: Attribute | undefined): number | undefined {
  const value = numberOf(attribute)
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
