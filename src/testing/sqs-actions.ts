import type { Clock } from '../clock.ts'
import type { LocalQueue } from './local-queue.ts'
import type { HandleResult, StoredMessage } from './queue-state.ts'
import { LOCAL_ACCOUNT } from './records.ts'
import { batchFault, fault, MAX_VISIBILITY_SECONDS, type SqsFault, type WireAttribute } from './sqs-rules.ts'

/** What SQS answers to one action: a JSON body, or a fault of the whole request. */
export type SqsAnswer = { readonly body: object } | { readonly fault: SqsFault }

export type SqsAction = (queue: LocalQueue, input: SqsInput, clock: Clock) => SqsAnswer | Promise<SqsAnswer>

/** The members of SQS requests that these actions read. */
export type SqsInput = {
  readonly QueueUrl?: string
  readonly ReceiptHandle?: string
  readonly VisibilityTimeout?: number
  readonly MaxNumberOfMessages?: number
  readonly WaitTimeSeconds?: number
  readonly AttributeNames?: readonly string[]
  readonly MessageSystemAttributeNames?: readonly string[]
  readonly MessageAttributeNames?: readonly string[]
  readonly Entries?: readonly {
    readonly Id: string
    readonly ReceiptHandle?: string
    readonly VisibilityTimeout?: number
  }[]
}

/** The actions on messages that were accepted: answered here, on the clock's time, instead of by the engine. */
export const MESSAGE_ACTIONS: Readonly<Record<string, SqsAction>> = {
  ReceiveMessage: receiveMessage,
  DeleteMessage: (queue, { ReceiptHandle = '' }) => single(deleteFault(queue, ReceiptHandle)),
  DeleteMessageBatch: (queue, input) => batch(input, ({ ReceiptHandle = '' }) => deleteFault(queue, ReceiptHandle)),
  ChangeMessageVisibility: (queue, { ReceiptHandle = '', VisibilityTimeout }) =>
    single(visibilityFault(queue, ReceiptHandle, VisibilityTimeout)),
  ChangeMessageVisibilityBatch: (queue, input) =>
    batch(input, ({ ReceiptHandle = '', VisibilityTimeout }) =>
      visibilityFault(queue, ReceiptHandle, VisibilityTimeout),
    ),
  PurgeQueue: (queue) => {
    queue.purge()
    return { body: {} }
  },
}

function single(found: SqsFault | undefined): SqsAnswer {
  return found === undefined ? { body: {} } : { fault: found }
}

type BatchEntry = NonNullable<SqsInput['Entries']>[number]

function batch({ Entries = [] }: SqsInput, apply: (entry: BatchEntry) => SqsFault | undefined): SqsAnswer {
  const refused = batchFault(Entries)
  if (refused !== undefined) return { fault: refused }
  const results = Entries.map((entry) => ({ Id: entry.Id, fault: apply(entry) }))
  return {
    body: {
      Successful: results.flatMap(({ Id, fault: found }) => (found === undefined ? [{ Id }] : [])),
      Failed: results.flatMap(({ Id, fault: found }) => (found === undefined ? [] : [failedEntry(Id, found)])),
    },
  }
}

/** An entry of a batch answer's `Failed` list. */
export function failedEntry(Id: string, { code, message, senderFault }: SqsFault): object {
  return { Id, Code: code, Message: message, SenderFault: senderFault }
}

/** A FIFO queue refuses an expired handle; a standard one, or a message that is gone, lets it pass. */
function deleteFault(queue: LocalQueue, handle: string): SqsFault | undefined {
  const result = queue.delete(handle)
  if (result === 'unknown') return invalidHandle()
  if (result !== 'expired' || !queue.fifo) return undefined
  return fault(
    'InvalidParameterValue',
    'The value for parameter ReceiptHandle is invalid. Reason: The receipt handle has expired.',
  )
}

function visibilityFault(queue: LocalQueue, handle: string, seconds: number | undefined): SqsFault | undefined {
  if (seconds === undefined || !(seconds >= 0 && seconds <= MAX_VISIBILITY_SECONDS)) {
    return fault(
      'InvalidParameterValue',
      `The value for parameter VisibilityTimeout is invalid. Reason: Must be between 0 and ${MAX_VISIBILITY_SECONDS}.`,
    )
  }
  return VISIBILITY_FAULTS[queue.changeVisibility(handle, seconds * 1000)]
}

const VISIBILITY_FAULTS: Readonly<Record<HandleResult, SqsFault | undefined>> = {
  ok: undefined,
  unknown: invalidHandle(),
  expired: fault(
    'InvalidParameterValue',
    'The value for parameter ReceiptHandle is invalid. Reason: Message does not exist or is not available for visibility timeout change.',
  ),
  'too-long': fault(
    'InvalidParameterValue',
    'The value for parameter VisibilityTimeout is invalid. Reason: Total VisibilityTimeout for the message is beyond the limit [43200 seconds].',
  ),
}

function invalidHandle(): SqsFault {
  return fault('ReceiptHandleIsInvalid', 'The input receipt handle is invalid.')
}

async function receiveMessage(queue: LocalQueue, input: SqsInput, clock: Clock): Promise<SqsAnswer> {
  const { MaxNumberOfMessages: max = 1, WaitTimeSeconds: wait = 0, VisibilityTimeout } = input
  if (!(max >= 1 && max <= 10)) {
    return {
      fault: fault(
        'InvalidParameterValue',
        'The value for parameter MaxNumberOfMessages is invalid. Reason: Must be between 1 and 10.',
      ),
    }
  }
  const until = clock.now() + wait * 1000
  const take = (): StoredMessage[] =>
    queue.receive(max, VisibilityTimeout === undefined ? undefined : VisibilityTimeout * 1000)
  let since = clock.now()
  let messages = take()
  while (messages.length === 0 && clock.now() < until) {
    await nextChange(queue, clock, Math.min(until, queue.nextVisibleAt(since) ?? until))
    since = clock.now()
    messages = take()
  }
  return { body: messages.length === 0 ? {} : { Messages: messages.map((message) => wireMessage(message, input)) } }
}

/** Resolves when a message may be free, or at `until`. */
async function nextChange(queue: LocalQueue, clock: Clock, until: number): Promise<void> {
  const woken = new AbortController()
  const end = queue.onChange(() => woken.abort(new Error('changed')))
  await clock.sleep(Math.max(1, until - clock.now()), woken.signal).catch(() => {})
  end()
}

/** The system attributes of a message as text, as SQS and Lambda give them. */
export function systemAttributes(message: StoredMessage): Record<string, string> {
  const { groupId, deduplicationId, sequenceNumber, deadLetterSource } = message
  return {
    SenderId: LOCAL_ACCOUNT,
    SentTimestamp: String(message.sentAt),
    ApproximateReceiveCount: String(message.receiveCount),
    ApproximateFirstReceiveTimestamp: String(message.firstReceivedAt ?? message.sentAt),
    ...(groupId === undefined ? {} : { MessageGroupId: groupId }),
    ...(deduplicationId === undefined ? {} : { MessageDeduplicationId: deduplicationId }),
    ...(sequenceNumber === undefined ? {} : { SequenceNumber: sequenceNumber }),
    ...(deadLetterSource === undefined ? {} : { DeadLetterQueueSourceArn: deadLetterSource }),
  }
}

function wireMessage(message: StoredMessage, input: SqsInput): object {
  const system = [...(input.AttributeNames ?? []), ...(input.MessageSystemAttributeNames ?? [])]
  const custom = input.MessageAttributeNames ?? []
  const wanted = Object.entries(systemAttributes(message)).filter(
    ([name]) => system.includes('All') || system.includes(name),
  )
  const attributes = Object.entries(message.attributes).filter(([name]) =>
    custom.some((pattern) => matchesName(name, pattern)),
  )
  return {
    MessageId: message.messageId,
    ReceiptHandle: message.handle,
    MD5OfBody: message.md5OfBody,
    Body: message.body,
    ...(wanted.length === 0 ? {} : { Attributes: Object.fromEntries(wanted) }),
    ...(attributes.length === 0 ? {} : { MessageAttributes: Object.fromEntries<WireAttribute>(attributes) }),
  }
}

function matchesName(name: string, pattern: string): boolean {
  return pattern === 'All' || pattern === name || (pattern.endsWith('.*') && name.startsWith(pattern.slice(0, -2)))
}
