import { isName } from '../event/grammar.ts'
import { eventId, sha256 } from '../event/identity.ts'
import { decodeLifeNote, encodeLifeNote, isPossibleNote, type LifeNote } from '../event/life.ts'
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
  /** Life note of a replay, sent with the body: its life and handlers, written anew, so that every queue takes it. */
  readonly note?: string
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
  const shard = textOf(image['shard'])
  const state = rowState(shard)
  if (shard === undefined || state === 'relayed' || state === 'dead') return { kind: 'settled', key }
  if (state === 'pull') return { kind: 'pull', key }
  const region = textOf(image['region'])
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
  const pk = textOf(image?.['pk'])
  const sk = textOf(image?.['sk'])
  return pk === undefined || sk === undefined ? undefined : { pk, sk }
}

/** The text of an attribute that is one. A record that Lambda did not make may hold anything. */
export function textOf(attribute: Attribute | undefined): string | undefined {
  const text: unknown = attribute?.S
  return typeof text === 'string' ? text : undefined
}

/** A number of milliseconds, or undefined for what is none. */
export function numberOf(attribute: Attribute | undefined): number | undefined {
  const value = typeof attribute?.N === 'string' ? Number(attribute.N) : Number.NaN
  return Number.isFinite(value) ? value : undefined
}

/** What is wrong with a pending row of this Region; names attributes, never values. */
function faultOf(image: RowImage, key: RowKey): string | undefined {
  const { shard, region, v, body, type, accepted } = image
  const note = noteOf(image)
  if (!PENDING.has(textOf(shard) ?? '')) return '`shard` is none of p#00 to p#63'
  if (textOf(region) === undefined) return '`region` is missing or no text'
  if (v !== undefined && !wholeNumber(v)) return '`v` is no whole number from 1'
  if (v !== undefined && !isOwnKey(key)) return 'the key has none of the two forms'
  if (!textOf(body)) return '`body` is missing, empty or no text'
  if (type !== undefined && textOf(type) === undefined) return '`type` is no text'
  if (accepted !== undefined && !isTextSet(accepted)) return '`accepted` is no set of text'
  if (note !== undefined && !isPossibleNote(note)) return '`note` names too many handlers, or one that cannot be'
  return undefined
}

const NOBODY: ReadonlySet<string> = new Set()
const PENDING: ReadonlySet<string> = new Set(ALL_PENDING_SHARDS)
const ID = /^[\x21-\x7e]{1,100}$/

/** What a row is called, by everybody: a row of ours has the id of its key, any other one ({@link foreignId}) its own. */
export function identify(image: RowImage, key: RowKey): Pick<PendingRow, 'id' | 'derivedId' | 'source' | 'group'> {
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
  const own = textOf(attribute)
  if (!own) return { id: derivedId(key), derivedId: true }
  return { id: ID.test(own) ? own : sha256(own), derivedId: false }
}

/** `pk|sk` names one row only if the first `|` is ours. */
function derivedId({ pk, sk }: RowKey): string {
  return sha256(`${pk.includes('|') ? sha256(pk) : pk}|${sk}`)
}

function content(image: RowImage): Pick<PendingRow, 'body' | 'accepted' | 'note' | 'type' | 'created'> {
  const { body, accepted } = image
  const created = numberOf(image['created'])
  const type = textOf(image['type'])
  const note = noteOf(image)
  return {
    body: textOf(body) ?? '',
    accepted: accepted === undefined ? NOBODY : new Set(accepted.SS),
    ...(note === undefined ? {} : { note: encodeLifeNote({ life: note.life, handlers: note.handlers }) }),
    ...(type === undefined ? {} : { type }),
    ...(created === undefined ? {} : { created }),
  }
}

/** A foreign row may have a `note` of its own: what is no life note is not ours, and is not sent. */
export function noteOf(image: RowImage): LifeNote | undefined {
  return decodeLifeNote(textOf(image['note']) ?? '')
}

/** Names as they are checked when a row is written: others could make two rows one event. */
function isOwnKey(key: RowKey): boolean {
  const identity = identityOf(key)
  if (identity === undefined || !isName(identity.source, 'source')) return false
  return isName('key' in identity ? identity.key : identity.group)
}

function isTextSet(attribute: Attribute | null): boolean {
  const texts: unknown = attribute?.SS
  return Array.isArray(texts) && texts.every((text) => typeof text === 'string')
}

function wholeNumber(attribute: Attribute | undefined): number | undefined {
  const value = numberOf(attribute)
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}
