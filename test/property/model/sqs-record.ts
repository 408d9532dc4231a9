import type { SqsRecord } from '../../../src/consumer/sqs-event.ts'
import type { StoredMessage } from '../../../src/testing/queue-state.ts'

/** A message as Lambda gives it to a consumer. */
export function sqsRecord(message: StoredMessage, arn: string): SqsRecord {
  const { messageId, body, groupId, handle = '', receiveCount, attributes } = message
  const messageAttributes = Object.entries(attributes).map(([key, { DataType, StringValue, BinaryValue }]) => [
    key,
    { dataType: DataType, stringValue: StringValue, binaryValue: BinaryValue },
  ])
  return {
    messageId,
    receiptHandle: handle,
    body,
    attributes: { ApproximateReceiveCount: String(receiveCount), MessageGroupId: groupId },
    messageAttributes: Object.fromEntries(messageAttributes),
    eventSourceARN: arn,
  }
}
