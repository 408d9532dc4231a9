import { Duration, type RemovalPolicy } from 'aws-cdk-lib'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import {
  DeduplicationScope,
  FifoThroughputLimit,
  type IQueue,
  Queue,
  QueueEncryption,
  type QueueProps,
} from 'aws-cdk-lib/aws-sqs'
import type { Construct } from 'constructs'
import { given } from './given.ts'

export type ConsumerQueueProps = {
  readonly fifo: boolean
  readonly queueName: string | undefined
  readonly deadLetterQueue: IQueue | undefined
  readonly visibilityTimeout: Duration
  readonly retentionPeriod: Duration
  readonly encryptionKey: IKey | undefined
  readonly removalPolicy: RemovalPolicy
}

/** The longest that SQS keeps a message: an outage of the consumer may last that long, and so may a dead letter's cause. */
export const LONGEST_RETENTION = Duration.days(14)

/**
 * SQS's most. The consumer itself gives up on an event, after attempts of the handler alone; the queue must not do so
 * after deliveries that never ran: a throttled function or a ledger that does not answer.
 */
const MAX_RECEIVE_COUNT = 1000

/** Queue and dead-letter queue, of one kind: encrypted, over TLS only, FIFO ones for high throughput. */
export function createQueues(scope: Construct, props: ConsumerQueueProps): { queue: Queue; deadLetterQueue: IQueue } {
  const { queueName, visibilityTimeout, retentionPeriod } = props
  const deadLetterQueue =
    props.deadLetterQueue ??
    new Queue(scope, 'DeadLetterQueue', { ...commonProps(props), retentionPeriod: LONGEST_RETENTION })
  const queue = new Queue(scope, 'Queue', {
    ...commonProps(props),
    visibilityTimeout,
    retentionPeriod,
    deadLetterQueue: { queue: deadLetterQueue, maxReceiveCount: MAX_RECEIVE_COUNT },
    ...given({ queueName }),
  })
  return { queue, deadLetterQueue }
}

function commonProps({ fifo, encryptionKey, removalPolicy }: ConsumerQueueProps): QueueProps {
  return {
    enforceSSL: true,
    removalPolicy,
    ...(encryptionKey === undefined
      ? { encryption: QueueEncryption.SQS_MANAGED }
      : { encryption: QueueEncryption.KMS, encryptionMasterKey: encryptionKey }),
    ...(fifo
      ? {
          fifo,
          deduplicationScope: DeduplicationScope.MESSAGE_GROUP,
          fifoThroughputLimit: FifoThroughputLimit.PER_MESSAGE_GROUP_ID,
        }
      : {}),
  }
}
