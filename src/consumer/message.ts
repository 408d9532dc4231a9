import { decodeBody } from '../event/codec.ts'
import type { Event } from '../event/event.ts'
import { decodeLifeNote, isPossibleNote, LIFE_ATTRIBUTE, type LifeNote } from '../event/life.ts'
import type { SqsAttribute, SqsRecord } from './sqs-event.ts'

/** One message of a batch, read. */
export type Message = {
  /** Key of the ledger's rows: the event id, or the SQS message id of what this package did not write. */
  readonly id: string
  readonly messageId: string
  readonly receiptHandle: string
  /** As it came: what a dead letter carries on. */
  readonly body: string
  readonly attributes: Readonly<Record<string, SqsAttribute>>
  readonly queueArn: string
  /** Messages of one group are handled in order. On a standard queue only copies of one event share a group. */
  readonly group: string
  /** Group id of a copy in the dead-letter queue. */
  readonly groupId: string
  readonly receiveCount: number
  /** Which round of the event this is, ms since 1970. 0 for what this package did not write. */
  readonly life: number
  /** A replay or a redriven dead letter: it concerns only these handlers. */
  readonly note?: LifeNote
  readonly content: Content
}

export type Content =
  | { readonly ok: true; readonly event: Event }
  /** Malformed: dead-lettered alone, with this reason. */
  | { readonly ok: false; readonly reason: string }

/** Reads an SQS record. Never throws: what cannot be understood, or is missing, is a message with a reason. */
export function readMessage(record: SqsRecord): Message {
  const messageId = textOf(record?.messageId)
  const body = textOf(record?.body)
  const queueArn = textOf(record?.eventSourceARN)
  const attributes = attributesOf(record?.messageAttributes)
  const note = decodeLifeNote(attributes[LIFE_ATTRIBUTE]?.stringValue ?? '')
  const decoded = note === undefined || isPossibleNote(note) ? decodeBody(unwrapEventBridge(body)) : BAD_NOTE
  const id = decoded.ok && decoded.own ? decoded.event.id : messageId
  const groupId = textOf(record?.attributes?.MessageGroupId) || id
  return {
    id,
    messageId,
    receiptHandle: textOf(record?.receiptHandle),
    body,
    attributes,
    queueArn,
    group: queueArn.endsWith('.fifo') ? groupId : id,
    groupId,
    receiveCount: Math.max(1, Number(record?.attributes?.ApproximateReceiveCount) || 1),
    life: Math.max(decoded.ok ? decoded.event.life : 0, note?.life ?? 0),
    content: decoded.ok ? { ok: true, event: decoded.event } : decoded,
    ...(note === undefined ? {} : { note }),
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Only what a copy in the dead-letter queue can carry: one odd attribute must not keep it from being sent. */
function attributesOf(given: Readonly<Record<string, SqsAttribute | null>> | undefined): Record<string, SqsAttribute> {
  const usable = Object.entries(given ?? {}).flatMap(([name, attribute]): [string, SqsAttribute][] => {
    const { dataType, stringValue, binaryValue } = attribute ?? {}
    if (typeof dataType !== 'string') return []
    if (typeof binaryValue === 'string' && binaryValue !== '') return [[name, { dataType, binaryValue }]]
    return typeof stringValue === 'string' ? [[name, { dataType, stringValue }]] : []
  })
  return Object.fromEntries(usable)
}

const BAD_NOTE = { ok: false, reason: 'the outbox attribute names too many handlers, or one that cannot be' } as const

/** An EventBridge rule wraps what it delivers: our body is then its `detail`. Any other text is returned as it is. */
function unwrapEventBridge(body: string): string {
  if (!body.includes('"detail-type"')) return body
  try {
    const envelope: unknown = JSON.parse(body)
    if (typeof envelope !== 'object' || envelope === null || 'specversion' in envelope) return body
    const { detail, 'detail-type': type } = envelope as Readonly<Record<string, unknown>>
    return typeof type === 'string' && typeof detail === 'object' ? JSON.stringify(detail) : body
  } catch {
    return body
  }
}
