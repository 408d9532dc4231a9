import { CreateQueueCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { checkOptions, invalidSetting } from '../settings.ts'
import type { LocalQueueInfo, LocalQueueOptions } from './local-queue-info.ts'
import { queueArn } from './records.ts'

/** SQS takes 80 characters; `-dead.fifo` may be added. */
const QUEUE_NAME = /^[\w-]{1,70}(\.fifo)?$/

/** Creates a queue and, if asked for, its dead-letter queue. */
export async function createQueue(
  sqs: SQSClient,
  name: string,
  settings: LocalQueueOptions = {},
): Promise<LocalQueueInfo> {
  const {
    fifo = true,
    deadLetter = false,
    visibilityTimeoutSeconds = 900,
    maxReceiveCount = 1000,
    attributes = {},
  } = settings
  checkOptions('createQueue', settings, [
    'fifo',
    'deadLetter',
    'visibilityTimeoutSeconds',
    'maxReceiveCount',
    'attributes',
  ])
  if (typeof name !== 'string' || !QUEUE_NAME.test(name))
    throw invalidSetting('name', 'must be 1–70 letters, digits, "-" and "_", with or without ".fifo"')
  const base = name.replace(/\.fifo$/, '')
  const full = `${base}${fifo ? '.fifo' : ''}`
  const common = {
    VisibilityTimeout: String(visibilityTimeoutSeconds),
    ...(fifo ? { FifoQueue: 'true' } : {}),
    ...attributes,
  }
  const send = async (QueueName: string, Attributes: Record<string, string>): Promise<string> =>
    (await sqs.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? ''
  if (!deadLetter) return { name: full, url: await send(full, common), arn: queueArn(full) }
  const deadName = `${base}-dead${fifo ? '.fifo' : ''}`
  const deadLetterUrl = await send(deadName, common)
  const deadLetterArn = queueArn(deadName)
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: deadLetterArn, maxReceiveCount })
  return {
    name: full,
    url: await send(full, { ...common, RedrivePolicy }),
    arn: queueArn(full),
    deadLetterUrl,
    deadLetterArn,
  }
}
