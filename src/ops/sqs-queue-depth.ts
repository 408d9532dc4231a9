import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { errorName } from '../errors.ts'

/** Messages of a queue, by SQS's approximate count. */
export type QueueDepth = {
  readonly queueUrl: string
  readonly visible: number
  /** Received by somebody and not yet deleted. */
  readonly inFlight: number
  /** Why it could not be read; the numbers are 0 then. */
  readonly unread?: string
}

/** Never throws: one queue that is missing or forbidden does not hide the others. */
export async function readQueueDepth(client: SQSClient, queueUrl: string): Promise<QueueDepth> {
  try {
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({
        QueueUrl: queueUrl,
        AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
      }),
    )
    const { ApproximateNumberOfMessages: visible, ApproximateNumberOfMessagesNotVisible: inFlight } = Attributes
    return { queueUrl, visible: Number(visible ?? 0), inFlight: Number(inFlight ?? 0) }
  } catch (error) {
    return { queueUrl, visible: 0, inFlight: 0, unread: errorName(error) }
  }
}
