import type { PutEventsCommandOutput, PutEventsRequestEntry } from '@aws-sdk/client-eventbridge'
import { errorName, memberOf } from '../errors.ts'
import { decodeBody } from '../event/codec.ts'
import type { OutgoingMessage, PublishOutcome } from './publisher.ts'

/**
 * The entry of a message, its body verbatim as `Detail`. Undefined if the message has no source or type, without which
 * EventBridge takes nothing (of a request of such entries alone it refuses the whole): a foreign row has no source and may
 * have no type or an empty one, but its body, if a CloudEvent, has both.
 *
 * No `Time`: EventBridge sets that of the request, and the event's own is in the body; an optional field cannot become
 * the reason of a refusal.
 */
export function eventEntry(busName: string, message: OutgoingMessage): PutEventsRequestEntry | undefined {
  const { source, type, body: Detail } = message
  if (source && type) {
    return { EventBusName: busName, Source: source, DetailType: type, Detail }
  }
  const decoded = decodeBody(Detail)
  if (!decoded.ok) return undefined
  const { event } = decoded
  return { EventBusName: busName, Source: source || event.source, DetailType: type || event.type, Detail }
}

/**
 * Bytes as EventBridge counts them: `Source`, `DetailType` and `Detail` in UTF-8. (14 for a `Time`, and resources, are
 * not sent; names of fields and the bus do not count.)
 */
export function entrySize({ Source = '', DetailType = '', Detail = '' }: PutEventsRequestEntry): number {
  return Buffer.byteLength(Source) + Buffer.byteLength(DetailType) + Buffer.byteLength(Detail)
}

/** What a 200 answer says of one entry: results are in the order of the entries. Anything unclear was not sent. */
export function entryOutcome({ Entries }: PutEventsCommandOutput, index: number): PublishOutcome {
  const entry = Entries?.[index]
  if (entry?.ErrorCode) return judge(entry.ErrorCode, entry.ErrorMessage ?? '')
  if (entry?.EventId) return { status: 'accepted' }
  return { status: 'failed', reason: 'the entry is missing in the answer' }
}

/** What an error of a request with a single entry says of it; of several, nothing is said of any one. */
export function requestOutcome(error: unknown): PublishOutcome {
  if (isTooLarge(error)) return { status: 'refused', reason: 'the event is larger than EventBridge takes' }
  return judge(errorName(error), messageOf(error))
}

/** Whether to send the entries one by one, so that one does not condemn the others. */
export function isAboutOneEntry(error: unknown): boolean {
  return isTooLarge(error) || errorName(error) === 'ValidationException'
}

/** `ValidationException: Total size of the entries in the request is over the limit.`, or HTTP 413 of what lies before it. */
function isTooLarge(error: unknown): boolean {
  if (httpStatus(error) === 413) return true
  return errorName(error) === 'ValidationException' && /over the limit/i.test(messageOf(error))
}

/** How EventBridge words a fault of the event itself; the same codes may speak of the bus. */
const ABOUT_CONTENT: ReadonlyMap<string, RegExp> = new Map([
  ['MalformedDetail', /^/],
  ['InvalidArgument', /\bparameter (?:Source|DetailType|Detail)\b/i],
  ['ValidationException', /\bentries\.\d+\.member\.(?:source|detailType|detail)\b/i],
])

/**
 * The closed list of what EventBridge will never take: a body that is no JSON object that it can read (integers beyond 64
 * bits, over 1,000 levels), a source or type that it refuses, and more bytes than fit. All else is an outage: throttling,
 * internal failures, access (to the bus, or for this source or type), a failing redaction, and any code not known today.
 */
function judge(code: string, message: string): PublishOutcome {
  const fault = ABOUT_CONTENT.get(code)?.exec(message)
  if (!fault) return { status: 'failed', reason: code }
  // Only the part that names the field: a validation message also quotes the value, and reasons are logged.
  const [field] = fault
  return { status: 'refused', reason: field === '' ? code : `${code}: ${field}` }
}

function messageOf(error: unknown): string {
  const message = memberOf(error, 'message')
  return typeof message === 'string' ? message : ''
}

function httpStatus(error: unknown): unknown {
  return memberOf(memberOf(error, '$metadata'), 'httpStatusCode')
}
