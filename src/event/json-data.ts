import { types } from 'node:util'
import { OutboxError } from '../errors.ts'

/**
 * Deepest nesting of `data`. EventBridge refuses 1,000 levels and counts its own envelope; many JSON readers stop near
 * 1,000 too. 500 leaves room for envelopes on the way and is far beyond any real event.
 */
export const MAX_DATA_DEPTH = 500

/**
 * The JSON text of a value, with the semantics of `JSON.stringify`: `undefined` members drop out, holes and `undefined`
 * in arrays are null, `toJSON` is called. What `JSON.stringify` would lose or mangle without a word (functions, symbols,
 * NaN, Infinity, Map, Set, bytes, class instances, invalid dates) and what it cannot write (BigInt, cycles, more than
 * 500 levels) is an `INVALID_EVENT` error that names the path of the value, never the value.
 */
export function jsonText(value: unknown, path: string): string {
  const text = write(value, { path, key: '', ancestors: [] })
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

type Place = { readonly path: string; readonly key: string; readonly ancestors: object[] }

/** Undefined: the value is absent in JSON. */
function write(given: unknown, place: Place): string | undefined {
  const value = applyToJson(given, place)
  switch (typeof value) {
    case 'string':
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

function writeArray(values: readonly unknown[], { path, ancestors }: Place): string {
  const parts: string[] = []
  for (let n = 0; n < values.length; n++) {
    parts.push(write(values[n], { path: `${path}[${n}]`, key: String(n), ancestors }) ?? 'null')
  }
  return `[${parts.join(',')}]`
}

function writeMembers(value: object, { path, ancestors }: Place): string {
  if (!isPlain(value))
    throw refused(
      path,
      'an instance of a class without toJSON',
      'plain objects, arrays, text, numbers, true, false and null',
    )
  const parts: string[] = []
  for (const [name, member] of Object.entries(value)) {
    const text = write(member, { path: memberPath(path, name), key: name, ancestors })
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
  const where = path.length > 300 ? `${path.slice(0, 300)}…` : path
  return new OutboxError('INVALID_EVENT', `${where} is ${got}, which JSON cannot hold. Give ${allowed}.`, {
    details: { path: where },
  })
}
