import type { Event } from './event.ts'
import { OWN_EXTENSIONS, STANDARD_ATTRIBUTES } from './grammar.ts'
import { eventId, eventKey, formatSequence, type Identity } from './identity.ts'
import { decodeSource, encodeSource } from './source-uri.ts'

/** All that goes into a body. Checked before: nothing here can fail. */
export type BodyParts = {
  readonly identity: Identity
  readonly type: string
  /** RFC 3339. */
  readonly time: string
  /** JSON text of the data. */
  readonly dataText: string
  readonly headers: Readonly<Record<string, string>>
  /** ms: the row's `created`. */
  readonly life: number
}

/**
 * The body: one CloudEvents 1.0 JSON text, built once, stored and sent verbatim. U+FFFE and U+FFFF, which SQS refuses, and
 * lone surrogates are escaped. `life` is text because a CloudEvents integer has 32 bits.
 */
export function encodeBody({ identity, type, time, dataText, headers, life }: BodyParts): string {
  const attributes = {
    specversion: '1.0',
    id: eventId(identity),
    source: encodeSource(identity.source),
    type,
    subject: eventKey(identity),
    time,
    datacontenttype: 'application/json',
    ...('group' in identity ? { sequence: formatSequence(identity.sequence), partitionkey: identity.group } : {}),
    life: String(life),
    ...headers,
  }
  return escapeNoncharacters(`${JSON.stringify(attributes).slice(0, -1)},"data":${dataText}}`)
}

/** In JSON text these two can stand only inside a string, so that an escape means the same. */
function escapeNoncharacters(text: string): string {
  return text.replace(/[\uFFFE\uFFFF]/g, (character) => `\\u${character.charCodeAt(0).toString(16)}`)
}

/**
 * A body read back. `own` is false for a CloudEvent that this package did not write: its id is unique only within its
 * source, its `key` is its subject (or id) and its `life` is 0.
 */
export type DecodedBody =
  | { readonly ok: true; readonly event: Event; readonly own: boolean }
  /** Fixed text, safe to store: it says nothing of the content. */
  | { readonly ok: false; readonly reason: string }

/** Reads a body. Never throws: what is no CloudEvents 1.0 JSON event gives a reason. */
export function decodeBody(text: string): DecodedBody {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return { ok: false, reason: 'the body is not JSON' }
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    return { ok: false, reason: 'the body is not a JSON object' }
  const body = parsed as Readonly<Record<string, unknown>>
  if (body.specversion !== '1.0') return { ok: false, reason: 'the body is not a CloudEvents 1.0 event' }
  const { id, source, type } = body
  if (!isText(id) || !isText(source) || !isText(type))
    return { ok: false, reason: 'the event lacks an id, source or type' }
  const own = ownParts(body, { id, source })
  const time = isText(body.time) ? body.time : ''
  const rest = { id, type, time, data: body.data ?? null, headers: headersOf(body, own !== undefined) }
  if (own !== undefined) return { ok: true, own: true, event: { ...rest, ...own } }
  const key = isText(body.subject) ? body.subject : id
  return { ok: true, own: false, event: { ...rest, source, key, life: 0 } }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

type OwnParts = Pick<Event, 'source' | 'key' | 'group' | 'sequence' | 'life'>

/** The parts that only this package writes; the id proves it, being the hash of the others. */
function ownParts(
  body: Readonly<Record<string, unknown>>,
  { id, source: uri }: { id: string; source: string },
): OwnParts | undefined {
  const { subject: key, partitionkey: group, sequence, life } = body
  const source = decodeSource(uri)
  if (source === undefined || !isText(key) || !isText(life) || !/^\d{1,15}$/.test(life)) return undefined
  if (eventId({ source, key }) !== id) return undefined
  const parts = { source, key, life: Number(life) }
  if (!isText(group) || !isText(sequence)) return parts
  return `${group} ${Number(sequence)}` === key ? { ...parts, group, sequence: Number(sequence) } : undefined
}

/** Every extension that is not one of ours. Numbers and truth values of a foreign event become text. */
function headersOf(body: Readonly<Record<string, unknown>>, own: boolean): Record<string, string> {
  const extensions = Object.entries(body).filter(
    ([name, value]) =>
      !STANDARD_ATTRIBUTES.has(name) &&
      !(own && OWN_EXTENSIONS.has(name)) &&
      ['string', 'number', 'boolean'].includes(typeof value),
  )
  return Object.fromEntries(extensions.map(([name, value]) => [name, String(value)]))
}
