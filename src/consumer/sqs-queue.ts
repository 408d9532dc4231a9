import {
  type BatchResultErrorEntry,
  ChangeMessageVisibilityBatchCommand,
  type MessageAttributeValue,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { errorName } from '../errors.ts'
import { checkQueuePair, checkQueueUrl, isFifo } from '../queue-url.ts'
import { checkClient, checkOptions } from '../settings.ts'
import type { ConsumerQueue, VisibilityEntry, VisibilityOutcome } from './consumer-queue.ts'
import type { SqsAttribute } from './sqs-event.ts'

export type SqsQueueOptions = {
  readonly client: SQSClient
  /** Where messages go that have spent their attempts. FIFO (`….fifo`) if the queue is. */
  readonly deadLetterQueueUrl: string
  /** The queue itself. Default: made from the ARN that each message carries, for queues of AWS's own endpoints. */
  readonly queueUrl?: string
}

/** The queue of a consumer in SQS. Never throws; the client's own retries and timeouts apply. */
export function createSqsQueue(options: SqsQueueOptions): ConsumerQueue {
  checkOptions('createSqsQueue', options, ['client', 'deadLetterQueueUrl', 'queueUrl'])
  const { client, deadLetterQueueUrl, queueUrl } = options
  checkClient('client', client, 'SQS')
  checkQueueUrl('deadLetterQueueUrl', deadLetterQueueUrl)
  if (queueUrl !== undefined) checkQueuePair({ queueUrl, deadLetterQueueUrl })
  const fifo = isFifo(deadLetterQueueUrl)

  return {
    setVisibility: async (queueArn, entries) => {
      const QueueUrl = queueUrl ?? queueUrlOf(queueArn)
      if (QueueUrl === undefined || entries.length === 0) return entries.map(() => 'failed')
      const Entries = entries.map(toEntry)
      try {
        const { Failed = [] } = await client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl, Entries }))
        const failed = new Map(Failed.map((entry) => [entry.Id, entry]))
        return entries.map((_, n) => outcomeOf(failed.get(String(n))))
      } catch {
        // An outage or a missing permission says nothing of the handles.
        return entries.map(() => 'failed')
      }
    },
    deadLetter: async ({ body, groupId, deduplicationId, attributes }) => {
      try {
        await client.send(
          new SendMessageCommand({
            QueueUrl: deadLetterQueueUrl,
            MessageBody: body,
            MessageAttributes: toAttributes(attributes),
            ...(fifo ? { MessageGroupId: groupId, MessageDeduplicationId: deduplicationId } : {}),
          }),
        )
        return { status: 'sent' }
      } catch (error) {
        return { status: 'failed', reason: errorName(error) }
      }
    },
  }
}

/** Entry ids are indexes: an id of anybody's own could break the rules of the field. */
function toEntry({ receiptHandle, seconds }: VisibilityEntry, n: number) {
  return { Id: String(n), ReceiptHandle: receiptHandle, VisibilityTimeout: seconds }
}

/**
 * A refused handle says that the message was received again or is gone. `InvalidParameterValue` is that only if it speaks
 * of the handle: it is also the answer to more than twelve hours in total.
 */
function outcomeOf(failed: BatchResultErrorEntry | undefined): VisibilityOutcome {
  if (failed === undefined) return 'changed'
  const { Code = '', Message = '' } = failed
  if (/ReceiptHandleIsInvalid|MessageNotInflight/.test(Code)) return 'lost'
  return /InvalidParameterValue/.test(Code) && /receipt ?handle/i.test(Message) ? 'lost' : 'failed'
}

/** From the form in which Lambda hands attributes over to the form in which SQS takes them. */
function toAttributes(attributes: Readonly<Record<string, SqsAttribute>>): Record<string, MessageAttributeValue> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, { dataType, stringValue, binaryValue }]) => [
      name,
      binaryValue === undefined || binaryValue === ''
        ? { DataType: dataType, StringValue: stringValue }
        : { DataType: dataType, BinaryValue: Buffer.from(binaryValue, 'base64') },
    ]),
  )
}

/** `arn:aws:sqs:eu-west-1:123456789012:orders.fifo` → its URL. Undefined for another shape. */
export function queueUrlOf(arn: string): string | undefined {
  const [, partition, service, region, account, name] = arn.split(':')
  if (service !== 'sqs' || !region || !account || !name) return undefined
  const suffix = partition === 'aws-cn' ? 'amazonaws.com.cn' : 'amazonaws.com'
  return `https://sqs.${region}.${suffix}/${account}/${name}`
}
