import { createHash, randomUUID } from 'node:crypto'
import { batchFault, entryFault, fault, sendBatchFault, type WireEntry } from '../../src/testing/sqs-rules.ts'
import { QUEUE_PATH, type StubAnswer } from './stub.ts'

type Body = { readonly QueueUrl?: string; readonly Entries?: readonly (WireEntry & { ReceiptHandle?: string })[] }

const RULES = { fifo: true, contentBased: false, perGroup: true, maxMessageBytes: 1_048_576 }

/** The requests that a relay and a consumer make of a FIFO queue, under the rules of SQS. */
export function answerSqs(action: string, { QueueUrl, Entries = [] }: Body): StubAnswer {
  if (QueueUrl?.endsWith(QUEUE_PATH) !== true) return refused('QueueDoesNotExist', 'There is no such queue here.')
  if (action === 'SendMessageBatch') return sendBatch(Entries)
  if (action === 'ChangeMessageVisibilityBatch') return changeVisibility(Entries)
  return refused('UnsupportedOperation', `${action} is not for this benchmark.`)
}

function sendBatch(entries: readonly WireEntry[]): StubAnswer {
  const whole = sendBatchFault(entries)
  if (whole !== undefined) return { fault: whole, items: 0 }
  const wrong = entries.map((entry) => entryFault(entry, RULES)).find((found) => found !== undefined)
  // Nothing that is sent here may be refused, so that one is enough to refuse all.
  if (wrong !== undefined) return { fault: wrong, items: 0 }
  const Successful = entries.map(({ Id, MessageBody }) => ({
    Id,
    MessageId: randomUUID(),
    MD5OfMessageBody: createHash('md5').update(MessageBody).digest('hex'),
    SequenceNumber: '18849496460467696128',
  }))
  return { body: { Successful, Failed: [] }, items: entries.length }
}

function changeVisibility(entries: Body['Entries'] & object): StubAnswer {
  const whole = batchFault(entries)
  if (whole !== undefined) return { fault: whole, items: 0 }
  if (entries.some(({ ReceiptHandle }) => !ReceiptHandle)) return refused('MissingParameter', 'No receipt handle.')
  return { body: { Successful: entries.map(({ Id }) => ({ Id })), Failed: [] }, items: entries.length }
}

function refused(code: string, message: string): StubAnswer {
  return { fault: fault(code, message), items: 0 }
}
