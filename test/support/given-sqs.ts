import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'

/** A further SQS for the contract suites to run on: that of `SQS_ENDPOINT`, if it is set. */
export const SQS_ENDPOINT = process.env['SQS_ENDPOINT']

export type GivenSqs = {
  readonly client: SQSClient
  /** URL of a new FIFO queue, high throughput as deployed, of a name that no other run uses. */
  readonly createQueue: () => Promise<string>
}

export function connectGivenSqs(endpoint: string): GivenSqs {
  const client = new SQSClient({
    endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
  const run = `${process.pid}-${Date.now().toString(36)}`
  let queues = 0
  const createQueue = async (): Promise<string> => {
    const Attributes = {
      FifoQueue: 'true',
      DeduplicationScope: 'messageGroup',
      FifoThroughputLimit: 'perMessageGroupId',
      VisibilityTimeout: '60',
    }
    const command = new CreateQueueCommand({ QueueName: `contract-${run}-${++queues}.fifo`, Attributes })
    return (await client.send(command)).QueueUrl ?? ''
  }
  return { client, createQueue }
}
