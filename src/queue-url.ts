import { invalidSetting } from './settings.ts'

/** Refuses (`INVALID_SETTING`) what is not the http(s) URL of a queue: an empty text, a name, an ARN. */
export function checkQueueUrl(path: string, url: unknown): void {
  if (typeof url === 'string' && /^https?:\/\/\S+\/\S+$/.test(url)) return
  throw invalidSetting(
    path,
    'must be the URL of a queue, such as https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo',
  )
}

/** Refuses two URLs that cannot be a queue and its dead-letter queue: SQS wants two queues of one kind. */
export function checkQueuePair({
  queueUrl,
  deadLetterQueueUrl,
}: Record<'queueUrl' | 'deadLetterQueueUrl', string>): void {
  checkQueueUrl('queueUrl', queueUrl)
  checkQueueUrl('deadLetterQueueUrl', deadLetterQueueUrl)
  if (queueUrl === deadLetterQueueUrl) throw invalidSetting('deadLetterQueueUrl', 'must not be the queue itself')
  if (isFifo(queueUrl) !== isFifo(deadLetterQueueUrl))
    throw invalidSetting('deadLetterQueueUrl', 'must be FIFO if the queue is, and standard if the queue is')
}

/** The name of a FIFO queue ends in `.fifo`. */
export function isFifo(queueUrl: string): boolean {
  return queueUrl.endsWith('.fifo')
}
