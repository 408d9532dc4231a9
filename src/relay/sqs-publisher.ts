import { SendMessageBatchCommand, type SendMessageBatchCommandOutput, type SQSClient } from '@aws-sdk/client-sqs'
import { checkQueueUrl, isFifo } from '../queue-url.ts'
import { checkClient, checkOptions } from '../settings.ts'
import { checkDestinationName, type OutgoingMessage, type Publisher, type PublishOutcome } from './publisher.ts'
import { batchEntries, entryOutcome, isAboutOneEntry, messageBytes, requestOutcome } from './sqs-batch.ts'

/** Most bytes of all messages of one request together: 1 MiB, bodies and attributes. */
const MAX_REQUEST_BYTES = 1_048_576
const MAX_REQUEST_ENTRIES = 10

export type SqsPublisherOptions = {
  readonly client: SQSClient
  readonly queueUrl: string
  /** Name of the destination in a row's `accepted`, 1–64 characters. Default: the queue's name. Never change it. */
  readonly name?: string
}

/**
 * Sends to an SQS queue. A FIFO queue (`….fifo`) gets group and deduplication id; a standard queue gets neither, so it
 * keeps no order and removes no duplicates.
 */
export function createSqsPublisher(options: SqsPublisherOptions): Publisher {
  checkOptions('createSqsPublisher', options, ['client', 'queueUrl', 'name'])
  const { client, queueUrl } = options
  checkClient('client', client, 'SQS')
  checkQueueUrl('queueUrl', queueUrl)
  const { name = queueName(queueUrl) } = options
  checkDestinationName('name', name)
  const fifo = isFifo(queueUrl)

  const sendBatch = (
    messages: readonly OutgoingMessage[],
    signal?: AbortSignal,
  ): Promise<SendMessageBatchCommandOutput> => {
    const command = new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: batchEntries(messages, fifo) })
    return client.send(command, signal === undefined ? {} : { abortSignal: signal })
  }
  const publish = async (messages: readonly OutgoingMessage[], signal?: AbortSignal): Promise<PublishOutcome[]> => {
    try {
      const answer = await sendBatch(messages, signal)
      return messages.map((_, index) => entryOutcome(answer, index))
    } catch (error) {
      if (messages.length > 1 && isAboutOneEntry(error)) return publishSingly(messages, signal)
      return messages.map(() => requestOutcome(error))
    }
  }
  // One entry made SQS refuse the request as a whole: sent one by one, only that one fails.
  const publishSingly = async (
    messages: readonly OutgoingMessage[],
    signal?: AbortSignal,
  ): Promise<PublishOutcome[]> => {
    const outcomes: PublishOutcome[] = []
    for (const message of messages) outcomes.push(...(await publish([message], signal)))
    return outcomes
  }
  return {
    name,
    maxEntries: MAX_REQUEST_ENTRIES,
    maxBytes: MAX_REQUEST_BYTES,
    sizeOf: messageBytes,
    publish,
  }
}

function queueName(queueUrl: string): string {
  return queueUrl.slice(queueUrl.lastIndexOf('/') + 1)
}
