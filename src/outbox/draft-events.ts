import { sameJson } from '../event/canonical.ts'
import { schemaOf, validateData } from '../event/define-event.ts'
import type { NewEvent } from '../event/event.ts'
import { invalidEvent, isAttributeText } from '../event/grammar.ts'
import { eventKey, type Identity } from '../event/identity.ts'
import { jsonText, jsonValue } from '../event/json-data.ts'
import { type ValidEvent, validateEvent } from '../event/validate-event.ts'

/** An event of a call, checked and written, all but the number of an `auto` one. */
export type Draft = {
  readonly event: ValidEvent
  /** Undefined for an `auto` event. */
  readonly identity?: Identity
  readonly dataText: string
}

/** The events of one call: equal twins have become one draft. */
export type DraftedEvents = {
  readonly drafts: readonly Draft[]
  /** For each event of the call, in order: its draft, and whether an earlier event has the same. */
  readonly places: readonly { readonly draft: number; readonly twin: boolean }[]
}

/**
 * Checks the events of one call, an `INVALID_EVENT` error with a path such as `events[1].data.total` if one is wrong.
 * Undefined if two have the same key and differ in type or data.
 */
export async function draftEvents(
  events: readonly NewEvent[],
  traceparent: string | undefined,
): Promise<DraftedEvents | undefined> {
  const drafts: Draft[] = []
  const places: { draft: number; twin: boolean }[] = []
  const byKey = new Map<string, number>()
  for (const [n, event] of events.entries()) {
    const draft = await draftEvent(event, `events[${n}]`, traceparent)
    // What the event's id is the hash of.
    const key = draft.identity && `${draft.identity.source}/${eventKey(draft.identity)}`
    const twin = key === undefined ? undefined : byKey.get(key)
    if (twin !== undefined && !sameContent(draft, drafts[twin])) return undefined
    if (key !== undefined && twin === undefined) byKey.set(key, drafts.length)
    places.push({ draft: twin ?? drafts.length, twin: twin !== undefined })
    if (twin === undefined) drafts.push(draft)
  }
  checkNumbering(drafts)
  return { drafts, places }
}

async function draftEvent(given: NewEvent, path: string, traceparent: string | undefined): Promise<Draft> {
  const valid = validateEvent(given, path)
  const dataText = jsonText(valid.data, `${path}.data`)
  await checkSchema(given, dataText, path)
  const traced = isTraceparent(traceparent) ? { traceparent, ...valid.headers } : valid.headers
  const event = { ...valid, headers: traced }
  if (event.key !== undefined) return { event, dataText, identity: { source: event.source, key: event.key } }
  const { source, group, sequence } = event
  return sequence === 'auto' ? { event, dataText } : { event, dataText, identity: { source, group, sequence } }
}

/** The schema sees what the handler's will see: the JSON value, not the caller's object. */
async function checkSchema(given: NewEvent, dataText: string, path: string): Promise<void> {
  const schema = schemaOf(given)
  if (schema === undefined) return
  const validation = await validateData({ schema }, jsonValue(dataText))
  if (validation.ok) return
  const [first = 'data'] = validation.paths
  throw invalidEvent(
    `${path}.${first}`,
    `does not fit the schema of its type (${validation.paths.length} or more places)`,
  )
}

/** Tracing must never fail a write: what is no header of W3C Trace Context is left out. */
function isTraceparent(text: unknown): text is string {
  return (
    typeof text === 'string' && isAttributeText(text) && /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}/.test(text)
  )
}

function sameContent(a: Draft, b: Draft | undefined): boolean {
  return b !== undefined && a.event.type === b.event.type && sameJson(jsonValue(a.dataText), jsonValue(b.dataText))
}

/** The next number after the highest stored means nothing beside numbers that the same call gives itself. */
function checkNumbering(drafts: readonly Draft[]): void {
  const numbered = drafts.filter(({ event }) => event.group !== undefined)
  const given = new Set(numbered.filter(({ event }) => event.sequence !== 'auto').map(groupOf))
  if (numbered.every((draft) => draft.event.sequence !== 'auto' || !given.has(groupOf(draft)))) return
  throw invalidEvent('events', 'must not mix "auto" and given numbers in one group; number all of them one way')
}

/** One text for each group of a source. A source holds no `/`. */
export function groupOf({ event }: Draft): string {
  return `${event.source}/${event.group}`
}
