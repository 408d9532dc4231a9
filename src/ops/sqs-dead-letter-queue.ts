import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { checkQueuePair, isFifo } from '../queue-url.ts'
import { checkClient, checkOptions } from '../settings.ts'
import { redriveEntry } from './dead-letter.ts'
import { readQueueDepth } from './sqs-queue-depth.ts'

/** A queue and its dead-letter queue, both FIFO or both standard. */
export type DeadLetterQueue = {
  readonly client: SQSClient
  readonly queueUrl: string
  readonly deadLetterQueueUrl: string
}

/** How long a message looked at stays hidden from others, should this process die. Seconds. */
const HOLD_SECONDS = 120
const MAX_ENTRIES = 10

/** Refuses what would fail, or do harm, at the first message. */
export function checkQueues(owner: string, queue: DeadLetterQueue): void {
  checkOptions(owner, queue, ['client', 'queueUrl', 'deadLetterQueueUrl'])
  checkClient('client', queue.client, 'SQS')
  checkQueuePair(queue)
}

/** Up to ten messages, hidden from others from now on. None: there are no more that are not hidden. */
export async function receive({ client, deadLetterQueueUrl }: DeadLetterQueue): Promise<readonly Message[]> {
  const { Messages = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: deadLetterQueueUrl,
      MaxNumberOfMessages: MAX_ENTRIES,
      VisibilityTimeout: HOLD_SECONDS,
      // Asks all of SQS's servers: a short poll may find nothing though there is something.
      WaitTimeSeconds: 1,
      MessageSystemAttributeNames: [
        'MessageGroupId',
        'MessageDeduplicationId',
        'SentTimestamp',
        'ApproximateFirstReceiveTimestamp',
      ],
      MessageAttributeNames: ['All'],
    }),
  )
  return Messages
}

/** All messages of the dead-letter queue, held ones included, by SQS's approximate count; 0 if that may not be asked. */
export async function countMessages({ client, deadLetterQueueUrl }: DeadLetterQueue): Promise<number> {
  const { visible, inFlight } = await readQueueDepth(client, deadLetterQueueUrl)
  return visible + inFlight
}

/** One request; gives what the queue has accepted. What stands in neither list of the answer was not sent. */
export async function send(
  { client, queueUrl }: DeadLetterQueue,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  if (messages.length === 0) return []
  const fifo = isFifo(queueUrl)
  const Entries = messages.map((message, index) => redriveEntry(message, { index, fifo }))
  const { Successful = [] } = await client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }))
  return listed(messages, Successful)
}

/** One request; gives what was deleted. */
export async function remove(
  { client, deadLetterQueueUrl }: DeadLetterQueue,
  messages: readonly Message[],
): Promise<readonly Message[]> {
  if (messages.length === 0) return []
  const Entries = messages.map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle }))
  const { Successful = [] } = await client.send(
    new DeleteMessageBatchCommand({ QueueUrl: deadLetterQueueUrl, Entries }),
  )
  return listed(messages, Successful)
}

function listed(messages: readonly Message[], entries: readonly { readonly Id?: string | undefined }[]): Message[] {
  const ids = new Set(entries.map(({ Id }) => Id))
  return messages.filter((_, n) => ids.has(String(n)))
}

/** Makes them visible at once. Never throws: what fails becomes visible by itself. */
export async function release(
  { client, deadLetterQueueUrl }: DeadLetterQueue,
  receiptHandles: readonly string[],
): Promise<void> {
  for (let at = 0; at < receiptHandles.length; at += MAX_ENTRIES) {
    const Entries = receiptHandles
      .slice(at, at + MAX_ENTRIES)
      .map((ReceiptHandle, n) => ({ Id: String(n), ReceiptHandle, VisibilityTimeout: 0 }))
    await client
      .send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: deadLetterQueueUrl, Entries }))
      .catch(() => {})
  }
}
