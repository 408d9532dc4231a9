import type { Message, SendMessageBatchRequestEntry } from '@aws-sdk/client-sqs'
import { decodeBody } from '../event/codec.ts'
import { decodeLifeNote, LIFE_ATTRIBUTE } from '../event/life.ts'

/** A message of a dead-letter queue, as far as it tells about itself. */
export type DeadLetter = {
  /** The event's id; the SQS message id of what this package did not write. */
  readonly id: string
  /** `consumer/handler` names it concerns; empty if SQS itself moved it here. */
  readonly handlers: readonly string[]
  readonly attempts?: number
  readonly reason?: string
  /** The event's type; absent for what is no event. */
  readonly type?: string
  /** When it came into the queue, ms. */
  readonly since?: number
}

/** Reads a message as `ReceiveMessage` gives it. Never throws. */
export function readDeadLetter({ Body = '', MessageId = '', Attributes, MessageAttributes }: Message): DeadLetter {
  const decoded = decodeBody(Body)
  const since = Number(Attributes?.SentTimestamp)
  const note = decodeLifeNote(MessageAttributes?.[LIFE_ATTRIBUTE]?.StringValue ?? '')
  return {
    id: decoded.ok && decoded.own ? decoded.event.id : MessageId,
    handlers: note?.handlers ?? [],
    ...(note?.attempts === undefined ? {} : { attempts: note.attempts }),
    ...(note?.reason === undefined ? {} : { reason: note.reason }),
    ...(decoded.ok ? { type: decoded.event.type } : {}),
    ...(Number.isFinite(since) ? { since } : {}),
  }
}

/** FIFO only: a standard queue may have groups, but takes no deduplication id. */
type EntryOptions = { readonly index: number; readonly fifo: boolean }

/**
 * The message as it goes back into its queue: same body, group and attributes, so that it is the next life of the handlers
 * it names. Its deduplication id is the copy's own, made of event, handler and life: a redrive that is repeated adds nothing
 * within five minutes, and one right after the first send is not taken for that. A message that SQS moved itself goes under
 * its message id, as it lies in the dead-letter queue.
 */
export function redriveEntry(message: Message, { index, fifo }: EntryOptions): SendMessageBatchRequestEntry {
  const { Body, Attributes, MessageAttributes, MessageId } = message
  const group = Attributes?.MessageGroupId
  const copied = MessageAttributes?.[LIFE_ATTRIBUTE] !== undefined
  const deduplicationId = (copied ? Attributes?.MessageDeduplicationId : undefined) ?? MessageId
  return {
    Id: String(index),
    MessageBody: Body,
    ...(MessageAttributes === undefined ? {} : { MessageAttributes }),
    ...(group === undefined ? {} : { MessageGroupId: group }),
    ...(fifo ? { MessageDeduplicationId: deduplicationId } : {}),
  }
}

/** Bytes of one request, with room for what `sizeOf` does not see of SQS's 1,048,576. */
const MAX_BYTES = 1_000_000

/**
 * The requests that messages go in, at most 10 of them: one of a group in each, the earliest first, so that no later one
 * can be accepted before an earlier; and not more bytes than a request holds. A message alone is never too much: it came
 * out of a queue.
 */
export function planRedrive(messages: readonly Message[]): Message[][] {
  return inRounds(messages).flatMap(packed)
}

function inRounds(messages: readonly Message[]): Message[][] {
  const rounds: Message[][] = []
  const next = new Map<string, number>()
  for (const message of messages) {
    const group = groupOf(message)
    const round = group === undefined ? 0 : (next.get(group) ?? 0)
    if (group !== undefined) next.set(group, round + 1)
    const entries = rounds[round]
    if (entries === undefined) rounds.push([message])
    else entries.push(message)
  }
  return rounds
}

function packed(messages: readonly Message[]): Message[][] {
  const parts: Message[][] = []
  let bytes = MAX_BYTES
  for (const message of messages) {
    bytes += sizeOf(message)
    if (bytes > MAX_BYTES) {
      parts.push([])
      bytes = sizeOf(message)
    }
    parts.at(-1)?.push(message)
  }
  return parts
}

function sizeOf({ Body = '', MessageAttributes = {} }: Message): number {
  return Buffer.byteLength(Body) + Buffer.byteLength(JSON.stringify(MessageAttributes))
}

export function groupOf({ Attributes }: Message): string | undefined {
  return Attributes?.MessageGroupId
}
