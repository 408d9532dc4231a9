/**
 * What SQS refuses, as rules over plain data: https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference.
 * The engine checks only some of them.
 */
export type WireAttribute = { DataType: string; StringValue?: string; BinaryValue?: string }

export type WireEntry = {
  Id: string
  MessageBody: string
  MessageAttributes?: Record<string, WireAttribute>
  MessageGroupId?: string
  MessageDeduplicationId?: string
  DelaySeconds?: number
}

export type SqsFault = { readonly code: string; readonly message: string; readonly senderFault: boolean }

export type QueueRules = {
  readonly fifo: boolean
  /** `ContentBasedDeduplication` */
  readonly contentBased: boolean
  /** `DeduplicationScope` is the message group. */
  readonly perGroup: boolean
  readonly maxMessageBytes: number
}

export const MAX_BATCH_BYTES = 1_048_576
export const MAX_VISIBILITY_SECONDS = 43_200
const MAX_BATCH_ENTRIES = 10
const MAX_ATTRIBUTES = 10

const ENTRY_ID = /^[A-Za-z0-9_-]{1,80}$/
/** Letters, digits and punctuation of ASCII, 1–128: group and deduplication ids. */
const FIFO_ID = /^[\x21-\x7e]{1,128}$/
const FORBIDDEN = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/u

/** Why a batch request as a whole is refused; undefined if it is not. Nothing of a refused request is applied. */
export function batchFault(entries: readonly { readonly Id: string }[]): SqsFault | undefined {
  const ids = entries.map((entry) => entry.Id)
  if (entries.length === 0) return fault('EmptyBatchRequest', 'There should be at least one entry in the request.')
  if (entries.length > MAX_BATCH_ENTRIES) {
    return fault(
      'TooManyEntriesInBatchRequest',
      `Maximum number of entries per request are 10. You have sent ${entries.length}.`,
    )
  }
  if (!ids.every((id) => ENTRY_ID.test(id))) {
    return fault(
      'InvalidBatchEntryId',
      'A batch entry id can only contain alphanumeric characters, hyphens and underscores. It can be at most 80 letters long.',
    )
  }
  if (new Set(ids).size < ids.length)
    return fault('BatchEntryIdsNotDistinct', 'Two or more batch entries have the same id.')
  return undefined
}

/** As {@link batchFault}, with the size of all messages together. */
export function sendBatchFault(entries: readonly WireEntry[]): SqsFault | undefined {
  const bytes = entries.reduce((sum, entry) => sum + messageBytes(entry), 0)
  const tooLong = fault(
    'BatchRequestTooLong',
    `Batch requests cannot be longer than ${MAX_BATCH_BYTES} bytes. You have sent ${bytes} bytes.`,
  )
  return batchFault(entries) ?? (bytes > MAX_BATCH_BYTES ? tooLong : undefined)
}

/** Why one entry is refused: the others of its request are not touched by that. */
export function entryFault(entry: WireEntry, rules: QueueRules): SqsFault | undefined {
  return contentFault(entry, rules) ?? (rules.fifo ? fifoFault(entry, rules) : standardFault(entry))
}

function contentFault(entry: WireEntry, { maxMessageBytes }: QueueRules): SqsFault | undefined {
  const attributes = Object.entries(entry.MessageAttributes ?? {})
  const texts = [entry.MessageBody, ...attributes.map(([, { StringValue = '' }]) => StringValue)]
  if (entry.MessageBody === '') return fault('MissingParameter', 'The request must contain the parameter MessageBody.')
  if (texts.some((text) => FORBIDDEN.test(text))) {
    return fault(
      'InvalidMessageContents',
      'Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF.',
    )
  }
  if (attributes.length > MAX_ATTRIBUTES) {
    return invalid(`Number of message attributes [${attributes.length}] exceeds the allowed maximum [10].`)
  }
  if (attributes.some(([name, { StringValue, BinaryValue }]) => name === '' || !(StringValue || BinaryValue))) {
    return invalid('A message attribute must have a name and a value that are not empty.')
  }
  return messageBytes(entry) > maxMessageBytes
    ? invalid(`One or more parameters are invalid. Reason: Message must be shorter than ${maxMessageBytes} bytes.`)
    : undefined
}

function fifoFault(entry: WireEntry, { contentBased }: QueueRules): SqsFault | undefined {
  const { MessageGroupId: group, MessageDeduplicationId: id } = entry
  if (group === undefined) return fault('MissingParameter', 'The request must contain the parameter MessageGroupId.')
  if (!FIFO_ID.test(group))
    return invalid('The parameter MessageGroupId can only include 1 to 128 alphanumeric and punctuation characters.')
  if (entry.DelaySeconds)
    return invalid('The request include parameter DelaySeconds that is not valid for this queue type.')
  if (id === undefined && !contentBased) {
    return invalid(
      'The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly.',
    )
  }
  return id !== undefined && !FIFO_ID.test(id)
    ? invalid('The parameter MessageDeduplicationId can only include 1 to 128 alphanumeric and punctuation characters.')
    : undefined
}

function standardFault(entry: WireEntry): SqsFault | undefined {
  return entry.MessageDeduplicationId === undefined
    ? undefined
    : invalid('The request include parameter MessageDeduplicationId that is not valid for this queue type.')
}

/** Bytes of one message as SQS counts them: body, and name, type and value of each attribute. */
export function messageBytes({ MessageBody, MessageAttributes = {} }: WireEntry): number {
  let bytes = Buffer.byteLength(MessageBody)
  for (const [name, { DataType, StringValue = '', BinaryValue = '' }] of Object.entries(MessageAttributes)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(DataType) + Buffer.byteLength(StringValue)
    bytes += Buffer.byteLength(BinaryValue, 'base64')
  }
  return bytes
}

export function fault(code: string, message: string, senderFault = true): SqsFault {
  return { code, message, senderFault }
}

function invalid(message: string): SqsFault {
  return fault('InvalidParameterValue', message)
}
