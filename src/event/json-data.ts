import { types } from 'node:util'
import { OutboxError } from '../errors.ts'

/**
 * Deepest nesting of `data`. EventBridge refuses 1,000 levels and counts its own envelope; many JSON readers stop near
 * 1,000 too. 500 leaves room for envelopes on the way and is far beyond any real event.
 */
export const MAX_DATA_DEPTH = 500

/**
 * Most characters of `data`: what SQS and EventBridge take of bytes. Far above what a row holds, which is counted later and
 * exactly; this ends at once what would grow for ever, such as a value that refers to itself twice on each of 40 levels.
 */
const MAX_DATA_LENGTH = 1_048_576

/**
 * The JSON text of a value, with the semantics of `JSON.stringify`: `undefined` members drop out, holes and `undefined`
 * in arrays are null, `toJSON` is called. What `JSON.stringify` would lose or mangle without a word (functions, symbols,
 * NaN, Infinity, Map, Set, bytes, class instances, invalid dates) and what it cannot write (BigInt, cycles, more than
 * 500 levels) is an `INVALID_EVENT` error that names the path of the value, never the value.
 */
export function jsonText(value: unknown, path: string): string {
  const text = write(value, { path, key: '', ancestors: [], room: { left: MAX_DATA_LENGTH } })
  if (text === undefined) throw refused(path, 'undefined', 'any JSON value; for "no data" give null')
  return text
}

/** A value that came out of {@link jsonText} as a value again, as the handler will see it. */
export function jsonValue(text: string): unknown {
  return JSON.parse(text)
}

/** `path.name` for an identifier, else `path["name"]`. */
export function memberPath(path: string, name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`
}

type Place = {
  readonly path: string
  readonly key: string
  readonly ancestors: object[]
  /** Characters that may still be written. */
  readonly room: { left: number }
}

/** Takes room for characters that are about to be written, before what holds them grows. */
function take({ path, room }: Place, characters: number): void {
  room.left -= characters
  if (room.left >= 0) return
  throw invalid(path, `goes beyond ${MAX_DATA_LENGTH} characters of data. Store large data apart.`)
}

/** Undefined: the value is absent in JSON. */
function write(given: unknown, place: Place): string | undefined {
  const value = applyToJson(given, place)
  switch (typeof value) {
    case 'string':
      take(place, value.length)
      return JSON.stringify(value)
    case 'boolean':
      return String(value)
    case 'number':
      if (!Number.isFinite(value)) throw refused(place.path, String(value), 'a finite number, null or text')
      return JSON.stringify(value)
    case 'undefined':
      return undefined
    case 'object':
      return value === null ? 'null' : writeObject(value, place)
    default:
      throw refused(
        place.path,
        typeof value,
        typeof value === 'bigint' ? 'text or a number' : 'a JSON value, or leave it out',
      )
  }
}

function applyToJson(value: unknown, { path, key }: Place): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) throw refused(path, 'bytes', 'base64 text')
  if (types.isDate(value) && Number.isNaN(value.getTime())) throw refused(path, 'an invalid date', 'a valid date')
  const { toJSON } = value as { toJSON?: unknown }
  return typeof toJSON === 'function' ? toJSON.call(value, key) : value
}

function writeObject(value: object, place: Place): string {
  const { path, ancestors } = place
  if (ancestors.includes(value)) throw refused(path, 'a reference to a value around it (a cycle)', 'a tree of values')
  if (ancestors.length >= MAX_DATA_DEPTH)
    throw refused(path, `more than ${MAX_DATA_DEPTH} levels`, `at most ${MAX_DATA_DEPTH}`)
  ancestors.push(value)
  const text = Array.isArray(value) ? writeArray(value, place) : writeMembers(value, place)
  ancestors.pop()
  return text
}

function writeArray(values: readonly unknown[], { path, ancestors, room }: Place): string {
  const parts: string[] = []
  for (let n = 0; n < values.length; n++) {
    const place = { path: `${path}[${n}]`, key: String(n), ancestors, room }
    take(place, 2)
    parts.push(write(values[n], place) ?? 'null')
  }
  return `[${parts.join(',')}]`
}

function writeMembers(value: object, { path, ancestors, room }: Place): string {
  if (!isPlain(value))
    throw refused(
      path,
      'an instance of a class without toJSON',
      'plain objects, arrays, text, numbers, true, false and null',
    )
  const parts: string[] = []
  for (const [name, member] of Object.entries(value)) {
    const place = { path: memberPath(path, name), key: name, ancestors, room }
    take(place, name.length + 3)
    const text = write(member, place)
    if (text !== undefined) parts.push(`${JSON.stringify(name)}:${text}`)
  }
  return `{${parts.join(',')}}`
}

/** An object literal, of any realm, or one without a prototype. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === null) return true
  return Object.getPrototypeOf(prototype) === null && !types.isMap(value) && !types.isSet(value)
}

function refused(path: string, got: string, allowed: string): OutboxError {
  return invalid(path, `is ${got}, which JSON cannot hold. Give ${allowed}.`)
}

function invalid(path: string, rule: string): OutboxError {
  const where = path.length > 300 ? `${path.slice(0, 300)}…` : path
  return new OutboxError('INVALID_EVENT', `${where} ${rule}`, { details: { path: where } })
}
