import type { SendMessageBatchCommandOutput, SendMessageBatchRequestEntry } from '@aws-sdk/client-sqs'
import { errorName, memberOf } from '../errors.ts'
import { LIFE_ATTRIBUTE } from '../event/life.ts'
import type { OutgoingMessage, PublishOutcome } from './publisher.ts'

/** Bytes of a message as SQS counts them: its body, and of an attribute the name, type and value. */
export function messageBytes({ body, note }: OutgoingMessage): number {
  const attribute = note === undefined ? 0 : Buffer.byteLength(`${LIFE_ATTRIBUTE}String${note}`)
  return Buffer.byteLength(body) + attribute
}

/** Entry ids are indexes: an event id may hold characters and lengths that SQS refuses there. */
export function batchEntries(messages: readonly OutgoingMessage[], fifo: boolean): SendMessageBatchRequestEntry[] {
  return messages.map(({ body, note, groupId, deduplicationId }, index) => ({
    Id: String(index),
    MessageBody: body,
    ...(note === undefined
      ? {}
      : { MessageAttributes: { [LIFE_ATTRIBUTE]: { DataType: 'String', StringValue: note } } }),
    ...(fifo ? { MessageGroupId: groupId, MessageDeduplicationId: deduplicationId } : {}),
  }))
}

/** What a 200 answer says of one entry. In neither list, or in both: not sent, as far as anybody knows. */
export function entryOutcome(answer: SendMessageBatchCommandOutput, index: number): PublishOutcome {
  const id = String(index)
  const failed = answer.Failed?.find((entry) => entry.Id === id)
  if (failed !== undefined) return judge(failed.Code ?? 'unknown', failed.Message ?? '')
  const sent = answer.Successful?.some((entry) => entry.Id === id) ?? false
  return sent ? { status: 'accepted' } : { status: 'failed', reason: 'the entry is missing in the answer' }
}

/** What an error of a request with a single entry says of it; of several, nothing is said of any one. */
export function requestOutcome(error: unknown): PublishOutcome {
  const message = memberOf(error, 'message')
  return judge(errorName(error), typeof message === 'string' ? message : '')
}

/** Errors of a whole request that one of its entries may have caused. */
const ENTRY_ERRORS: ReadonlySet<string> = new Set([
  'BatchRequestTooLong',
  'InvalidMessageContents',
  'InvalidParameterValue',
  'InvalidParameterCombination',
  'MissingParameter',
  'ValidationError',
])

/** Whether to send the entries one by one, so that one does not condemn the others. */
export function isAboutOneEntry(error: unknown): boolean {
  return ENTRY_ERRORS.has(plainCode(errorName(error)))
}

/** How SQS words a message over the maximum, its own or the queue's lower one; it has no code of its own. */
const TOO_LONG = /must be shorter than|cannot be longer than|too long/i

/**
 * The closed list of what SQS will never take: characters outside its set, and more bytes than fit. All else is an
 * outage, however much it looks like the sender's fault (`SenderFault` is true for a revoked permission or a disabled
 * key): a missing queue, access, keys, throttling, and any code not known today.
 */
function judge(name: string, message: string): PublishOutcome {
  const code = plainCode(name)
  const content = code === 'InvalidMessageContents' || code === 'BatchRequestTooLong'
  const tooLong = (code === 'InvalidParameterValue' || code === 'ValidationError') && TOO_LONG.test(message)
  if (content || tooLong) return { status: 'refused', reason: message === '' ? code : `${code}: ${message}` }
  return { status: 'failed', reason: code }
}

/** `AWS.SimpleQueueService.BatchRequestTooLong` and `InvalidParameterValueException` as the newer protocol names them. */
function plainCode(code: string): string {
  return code.slice(Math.max(code.lastIndexOf('.'), code.lastIndexOf('#')) + 1).replace(/Exception$/, '')
}
