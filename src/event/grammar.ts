import { types } from 'node:util'
import { OutboxError } from '../errors.ts'

/** Longest `source`, `type`, `key` and `group`: what SQS takes as group and deduplication ids. */
const MAX_NAME_LENGTH = 128

const NAME = /^[!-~]{1,128}$/
const SOURCE = /^[!-.0-~]{1,128}$/
const HEADER_NAME = /^[a-z0-9]{1,20}$/

/** CloudEvents' own attributes. */
export const STANDARD_ATTRIBUTES: ReadonlySet<string> = new Set([
  'specversion',
  'id',
  'source',
  'type',
  'subject',
  'time',
  'datacontenttype',
  'dataschema',
  'data',
  'data_base64',
])
/** The extensions that this package sets itself. */
export const OWN_EXTENSIONS: ReadonlySet<string> = new Set(['sequence', 'partitionkey', 'life'])

/** ASCII letters, digits and punctuation, 1–128, no space; a source also without `/`. */
export function isName(value: unknown, form: 'name' | 'source' = 'name'): value is string {
  return typeof value === 'string' && (form === 'source' ? SOURCE : NAME).test(value)
}

/** A {@link isName name}. Else an `INVALID_EVENT` error. */
export function checkName(path: string, value: unknown, form: 'name' | 'source' = 'name'): string {
  if (isName(value, form)) return value
  const got = typeof value === 'string' ? `text of ${value.length} characters outside that` : describe(value)
  const slash = form === 'source' ? ' and no "/"' : ''
  throw invalidEvent(
    path,
    `must be 1–${MAX_NAME_LENGTH} ASCII letters, digits and punctuation, no space${slash}; got ${got}`,
  )
}

/** The event's headers, checked: CloudEvents extension attributes with text that CloudEvents allows. */
export function checkHeaders(path: string, headers: unknown): Readonly<Record<string, string>> {
  if (headers === undefined) return {}
  // A Map, or Headers, has no members of its own: it would be taken for none at all.
  if (typeof headers !== 'object' || headers === null || Symbol.iterator in headers) {
    throw invalidEvent(path, `must be an object of texts; got ${describe(headers)}`)
  }
  const checked = Object.entries(headers).filter(([, value]) => value !== undefined)
  for (const [index, [name, value]] of checked.entries()) checkHeader(`${path}[${index}]`, name, value)
  return Object.fromEntries(checked)
}

function checkHeader(path: string, name: string, value: unknown): void {
  if (!HEADER_NAME.test(name)) throw invalidEvent(path, 'must have a name of 1–20 lower-case letters and digits')
  if (STANDARD_ATTRIBUTES.has(name) || OWN_EXTENSIONS.has(name))
    throw invalidEvent(path, `must not be named "${name}", which the event itself sets`)
  if (typeof value === 'string' && isAttributeText(value)) return
  const got = typeof value === 'string' ? 'text with such characters' : describe(value)
  throw invalidEvent(
    `${path} (${name})`,
    `must be text without control characters, lone surrogates and noncharacters; got ${got}`,
  )
}

/** What CloudEvents allows in an attribute of type String. Written as a set: U+FDD0–U+FDEF and U+xxFFFE, U+xxFFFF are no characters. */
export function isAttributeText(value: string): boolean {
  return value.isWellFormed() && !/[\p{Cc}\p{Noncharacter_Code_Point}]/u.test(value)
}

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/

/** RFC 3339 text of a date or of such a text, kept as it is. A date that does not parse is an error, never "now". */
export function checkTime(path: string, time: unknown): string {
  const text = types.isDate(time) && !Number.isNaN(time.getTime()) ? time.toISOString() : time
  if (typeof text === 'string' && isTime(text)) return text
  const got = typeof text === 'string' ? `text of ${text.length} characters that is no such time` : describe(text)
  throw invalidEvent(path, `must be a valid date or RFC 3339 text such as 2026-01-31T12:00:00Z; got ${got}`)
}

function isTime(text: string): boolean {
  const [, year, month, day] = RFC_3339.exec(text) ?? []
  if (year === undefined || Number.isNaN(Date.parse(text))) return false
  // Date.parse takes 30 February for 1 March.
  return Number(day) <= new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate()
}

/** The kind of a value, for messages: never the value. */
export function describe(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (types.isDate(value)) return Number.isNaN(value.getTime()) ? 'an invalid date' : 'a date'
  return typeof value === 'object' ? 'an object' : typeof value
}

export function invalidEvent(path: string, rule: string): OutboxError {
  return new OutboxError('INVALID_EVENT', `${path} ${rule}.`, { details: { path } })
}
