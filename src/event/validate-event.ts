import { checkHeaders, checkName, checkTime, describe, invalidEvent } from './grammar.ts'

/** A new event whose form, names, headers and time are right. Its data is checked when it is written as text. */
export type ValidEvent = {
  readonly source: string
  readonly type: string
  readonly data: unknown
  readonly headers: Readonly<Record<string, string>>
  /** RFC 3339; undefined: the time of the call. */
  readonly time?: string
} & (
  | { readonly key: string; readonly group?: never; readonly sequence?: never }
  | { readonly group: string; readonly sequence: 'auto' | number; readonly key?: never }
)

const MEMBERS: readonly string[] = ['source', 'type', 'data', 'headers', 'time', 'key', 'group', 'sequence']

/** Checks a new event from a caller who may not have a compiler. The first broken rule is an `INVALID_EVENT` error with its path. */
export function validateEvent(given: unknown, path: string): ValidEvent {
  if (typeof given !== 'object' || given === null) throw invalidEvent(path, `must be an event; got ${describe(given)}`)
  const event = given as Readonly<Record<string, unknown>>
  const unknown = Object.keys(event).findIndex((name) => !MEMBERS.includes(name))
  if (unknown >= 0)
    throw invalidEvent(path, `has an unknown member (number ${unknown + 1}); allowed are ${MEMBERS.join(', ')}`)
  return {
    source: checkName(`${path}.source`, event.source, 'source'),
    type: checkName(`${path}.type`, event.type),
    data: event.data,
    headers: checkHeaders(`${path}.headers`, event.headers),
    ...(event.time === undefined ? {} : { time: checkTime(`${path}.time`, event.time) }),
    ...checkForm(event, path),
  }
}

function checkForm({ key, group, sequence }: Readonly<Record<string, unknown>>, path: string) {
  if (key !== undefined && group === undefined && sequence === undefined) return { key: checkName(`${path}.key`, key) }
  if (key !== undefined || group === undefined || sequence === undefined) {
    throw invalidEvent(path, 'must have either key (unordered), or group and sequence (ordered), and not both')
  }
  return { group: checkName(`${path}.group`, group), sequence: checkSequence(`${path}.sequence`, sequence) }
}

function checkSequence(path: string, sequence: unknown): 'auto' | number {
  if (sequence === 'auto') return sequence
  if (typeof sequence === 'number' && Number.isSafeInteger(sequence) && sequence >= 1) return sequence
  throw invalidEvent(path, `must be "auto" or a whole number from 1 to ${Number.MAX_SAFE_INTEGER}`)
}
