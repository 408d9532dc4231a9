import { DeleteMessageCommand, ReceiveMessageCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { encodeLifeNote, LIFE_ATTRIBUTE, type LifeNote } from '../../src/event/life.ts'

export type Letter = {
  readonly body: string
  readonly group?: string
  readonly deduplicationId?: string
  readonly note?: LifeNote
}

/** Sends a message as a consumer sends its copy to a dead-letter queue. */
export async function sendLetter(client: SQSClient, QueueUrl: string, letter: Letter): Promise<void> {
  const { body, group, deduplicationId, note } = letter
  await client.send(
    new SendMessageCommand({
      QueueUrl,
      MessageBody: body,
      ...(group === undefined ? {} : { MessageGroupId: group }),
      ...(deduplicationId === undefined ? {} : { MessageDeduplicationId: deduplicationId }),
      MessageAttributes: {
        tenant: { DataType: 'String', StringValue: 'blue' },
        ...(note && { [LIFE_ATTRIBUTE]: { DataType: 'String', StringValue: encodeLifeNote(note) } }),
      },
    }),
  )
}

/**
 * What `StartMessageMoveTask` does, the redrive of the AWS console: every message goes back with body, attributes and
 * group, as a new message with an id of its own. Which deduplication id it carries AWS does not say; here a new one.
 * Moves one message, the first: a task that runs on would move what comes back meanwhile as well.
 */
export async function consoleRedrive(client: SQSClient, { from, to }: { from: string; to: string }): Promise<void> {
  const { Messages: [message] = [] } = await client.send(
    new ReceiveMessageCommand({
      QueueUrl: from,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
      WaitTimeSeconds: 1,
    }),
  )
  if (message === undefined) throw new Error('nothing to move')
  const { Body, Attributes, MessageAttributes, MessageId, ReceiptHandle } = message
  await client.send(
    new SendMessageCommand({
      QueueUrl: to,
      MessageBody: Body,
      MessageAttributes,
      MessageGroupId: Attributes?.MessageGroupId,
      MessageDeduplicationId: `moved-${MessageId}`,
    }),
  )
  await client.send(new DeleteMessageCommand({ QueueUrl: from, ReceiptHandle }))
}
