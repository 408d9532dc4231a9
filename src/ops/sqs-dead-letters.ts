import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { type DeadLetter, inRounds, readDeadLetter, redriveEntry } from './dead-letter.ts'

export type DeadLetterQueue = {
  readonly client: SQSClient
  readonly queueUrl: string
  readonly deadLetterQueueUrl: string
}

export type RedriveReport = {
  /** Back in their queue, and gone from the dead-letter queue. */
  readonly redriven: number
  /** Accepted by their queue but not deleted here, or not accepted: still here, and safe to redrive again. */
  readonly failed: number
  /** Looked at and left. */
  readonly left: number
}

/** How long a message looked at stays hidden from others, should this process die. Seconds. */
const HOLD_SECONDS = 120
const MAX_ENTRIES = 10

/**
 * Moves the messages that `select` picks from a dead-letter queue back into their queue. Each group goes in order, and of
 * a group only what stands before its first message that stays can be reached: SQS hands out no more of it meanwhile.
 *
 * A message is deleted here only once its queue has accepted it. Dying in between leaves it in both; redriven again, the
 * queue drops it within five minutes and the ledger after that. Throws errors of the AWS SDK as they are; what was moved by
 * then stays moved.
 */
export async function redriveMessages(
  queue: DeadLetterQueue,
  select: (letter: DeadLetter) => boolean,
): Promise<RedriveReport> {
  /** By message id: one that comes again, its hiding over, is not looked at twice. */
  const held = new Map<string | undefined, Message>()
  const isNew = ({ MessageId }: Message): boolean => !held.has(MessageId)
  let redriven = 0
  let failed = 0
  try {
    for (let page = await receive(queue); page.some(isNew); page = await receive(queue)) {
      const chosen = choose(page, (message) => isNew(message) && select(readDeadLetter(message)))
      const moved = await move(queue, chosen)
      redriven += moved.size
      failed += chosen.length - moved.size
      for (const message of page.filter((one) => !moved.has(one))) held.set(message.MessageId, message)
    }
  } finally {
    await release(queue, [...held.values()])
  }
  return { redriven, failed, left: held.size - failed }
}

/** Moves one event's dead letters, of one handler (`consumer/handler`) or of all. */
export function redriveMessage(
  queue: DeadLetterQueue,
  { id, handler }: { readonly id: string; readonly handler?: string },
): Promise<RedriveReport> {
  return redriveMessages(
    queue,
    (letter) => letter.id === id && (handler === undefined || letter.handlers.includes(handler)),
  )
}

async function receive({ client, deadLetterQueueUrl }: DeadLetterQueue): Promise<readonly Message[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: deadLetterQueueUrl,
      MaxNumberOfMessages: MAX_ENTRIES,
      VisibilityTimeout: HOLD_SECONDS,
      // Asks all of SQS's servers: a short poll may find nothing though there is something.
      WaitTimeSeconds: 1,
      MessageSystemAttributeNames: ['MessageGroupId', 'MessageDeduplicationId'],
      MessageAttributeNames: ['All'],
    }),
  )
  return Messages
}

/** What is left of a group keeps what follows it here too. */
function choose(page: readonly Message[], isWanted: (message: Message) => boolean): Message[] {
  const staying = new Set<string>()
  return page.filter((message) => {
    const group = message.Attributes?.MessageGroupId
    const chosen = (group === undefined || !staying.has(group)) && isWanted(message)
    if (!chosen && group !== undefined) staying.add(group)
    return chosen
  })
}

/** Sends, then deletes; gives the messages that are out of here. Nothing of a group is sent after one that was not. */
async function move(queue: DeadLetterQueue, messages: readonly Message[]): Promise<ReadonlySet<Message>> {
  const moved = new Set<Message>()
  const stuck = new Set<string>()
  for (const round of inRounds(messages)) {
    const free = round.filter(({ Attributes }) => !stuck.has(Attributes?.MessageGroupId ?? ''))
    const accepted = await send(queue, free)
    for (const message of await remove(queue, accepted)) moved.add(message)
    for (const { Attributes } of free.filter((message) => !moved.has(message))) {
      if (Attributes?.MessageGroupId !== undefined) stuck.add(Attributes.MessageGroupId)
    }
  }
  return moved
}

async function send({ client, queueUrl }: DeadLetterQueue, messages: readonly Message[]): Promise<readonly Message[]> {
  const accepted: Message[] = []
  for (const part of packed(messages)) {
    const { Successful = [] } = await client.send(
      new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: part.map(redriveEntry) }),
    )
    accepted.push(...part.filter((_, n) => Successful.some(({ Id }) => Id === String(n))))
  }
  return accepted
}

/** Bytes of one request, with room for what `sizeOf` does not see. */
const MAX_BYTES = 1_000_000

/** Parts that a request can hold. A message alone is never too much: it came out of a queue. */
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

async function remove(
  { client, deadLetterQueueUrl }: DeadLetterQueue,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  if (messages.length === 0) return []
  const Entries = messages.map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle }))
  const { Successful = [] } = await client.send(
    new DeleteMessageBatchCommand({ QueueUrl: deadLetterQueueUrl, Entries }),
  )
  return messages.filter((_, n) => Successful.some(({ Id }) => Id === String(n)))
}

/** Makes them visible at once; what fails becomes visible by itself. */
async function release({ client, deadLetterQueueUrl }: DeadLetterQueue, messages: readonly Message[]): Promise<void> {
  for (let at = 0; at < messages.length; at += MAX_ENTRIES) {
    const Entries = messages
      .slice(at, at + MAX_ENTRIES)
      .map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle, VisibilityTimeout: 0 }))
    await client
      .send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: deadLetterQueueUrl, Entries }))
      .catch(() => {})
  }
}
