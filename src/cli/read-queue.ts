import { GetQueueAttributesCommand, type SQSClient } from '@aws-sdk/client-sqs'
import type { QueueFacts } from '../ops/deployment.ts'
import { whenThere } from './when-there.ts'

/** Undefined if there is no such queue. */
export function readQueue(client: SQSClient, url: string): Promise<QueueFacts | undefined> {
  return whenThere(async () => {
    const { Attributes = {} } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['All'] }),
    )
    return {
      url,
      arn: Attributes.QueueArn ?? '',
      fifo: Attributes.FifoQueue === 'true',
      deduplicationScope: Attributes.DeduplicationScope,
      throughputLimit: Attributes.FifoThroughputLimit,
      visibilitySeconds: Number(Attributes.VisibilityTimeout ?? 0),
      retentionSeconds: Number(Attributes.MessageRetentionPeriod ?? 0),
      redrive: redriveOf(Attributes.RedrivePolicy),
    }
  })
}

function redriveOf(text: string | undefined): QueueFacts['redrive'] {
  if (text === undefined || text === '') return undefined
  const { deadLetterTargetArn = '', maxReceiveCount = 0 } = JSON.parse(text) as {
    deadLetterTargetArn?: string
    maxReceiveCount?: number | string
  }
  return { targetArn: deadLetterTargetArn, maxReceiveCount: Number(maxReceiveCount) }
}
