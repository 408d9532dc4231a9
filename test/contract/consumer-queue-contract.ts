import { ReceiveMessageCommand, SendMessageCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import type { ConsumerQueue } from '../../src/consumer/consumer-queue.ts'
import { deadLetterCopy } from '../../src/consumer/dead-letter-copy.ts'
import { readMessage } from '../../src/consumer/message.ts'
import { decodeLifeNote, LIFE_ATTRIBUTE } from '../../src/event/life.ts'
import type { Exhausted } from '../../src/ledger/decide-claim.ts'
import { sqsRecord } from '../../src/testing/records.ts'
import { proves } from '../cases.ts'

export type QueueUnderTest = {
  readonly queue: ConsumerQueue
  readonly client: SQSClient
  readonly queueUrl: string
  readonly deadLetterUrl: string
}

const ARN = 'arn:aws:sqs:us-east-1:000000000000:queue.fifo'

/** What every queue of a consumer must do. */
export function describeConsumerQueue(name: string, create: () => Promise<QueueUnderTest>): void {
  let bodies = 0

  const setup = async () => {
    const tested = await create()
    const { client, queueUrl, deadLetterUrl } = tested
    const body = `{"n":${++bodies}}`
    const receive = async (QueueUrl: string) => {
      const input = {
        QueueUrl,
        MaxNumberOfMessages: 10,
        MessageAttributeNames: ['All'],
        MessageSystemAttributeNames: ['All' as const],
      }
      const { Messages = [] } = await client.send(new ReceiveMessageCommand(input))
      return Messages
    }
    const message = readMessage(
      sqsRecord({ body, groupId: `group-${bodies}`, attributes: { tenant: 'blue', outbox: 'old' } }),
    )
    const exhausted: Exhausted = {
      id: `event-${bodies}`,
      name: 'shop/reserve',
      token: 't',
      status: 'failed',
      attempts: 8,
      life: 5,
      failure: 'no "stock" \u{1f600} \uffff',
    }
    return {
      ...tested,
      message,
      exhausted,
      send: (group: string) =>
        client.send(
          new SendMessageCommand({
            QueueUrl: queueUrl,
            MessageBody: body,
            MessageGroupId: group,
            MessageDeduplicationId: `${group}-${bodies}`,
          }),
        ),
      receive: () => receive(queueUrl),
      deadLetters: () => receive(deadLetterUrl),
    }
  }

  describe(`consumer's queue: ${name}`, () => {
    it('shows a message again at once when its visibility is set to nothing', async () => {
      const { queue, send, receive } = await setup()
      await send('one')
      const [message] = await receive()
      expect(await receive()).toEqual([])
      const entry = { receiptHandle: message?.ReceiptHandle ?? '', seconds: 0 }
      expect(await queue.setVisibility(ARN, [entry])).toEqual(['changed'])
      expect(await receive()).toMatchObject([{ MessageId: message?.MessageId }])
    })

    it('tells a handle that is not valid from one that is', async () => {
      const { queue, send, receive } = await setup()
      await send('two')
      const [message] = await receive()
      const entries = ['not-a-handle', message?.ReceiptHandle ?? ''].map((receiptHandle) => ({
        receiptHandle,
        seconds: 60,
      }))
      expect(await queue.setVisibility(ARN, entries)).toEqual(['lost', 'changed'])
    })

    it(
      'leaves a copy with body, group, attributes and why',
      proves('ids-on-every-path', 'few-attributes'),
      async () => {
        const { queue, message, exhausted, deadLetters } = await setup()
        expect(await queue.deadLetter(deadLetterCopy(message, exhausted))).toEqual({ status: 'sent' })
        const [copy] = await deadLetters()
        expect(copy).toMatchObject({
          Body: message.body,
          Attributes: {
            MessageGroupId: message.groupId,
            MessageDeduplicationId: expect.stringMatching(/^[0-9a-f]{64}$/),
          },
          MessageAttributes: { tenant: { StringValue: 'blue', DataType: 'String' } },
        })
        expect(decodeLifeNote(copy?.MessageAttributes?.[LIFE_ATTRIBUTE]?.StringValue ?? '')).toEqual({
          life: 6,
          handlers: ['shop/reserve'],
          attempts: 8,
          reason: exhausted.failure,
        })
      },
    )

    it('leaves one copy however often the same one is sent within five minutes', async () => {
      const { queue, message, exhausted, deadLetters } = await setup()
      for (let n = 0; n < 3; n++)
        expect((await queue.deadLetter(deadLetterCopy(message, exhausted))).status).toBe('sent')
      expect(await deadLetters()).toHaveLength(1)
    })

    it('leaves a copy for each handler and each life', proves('two-dead-of-one-message'), async () => {
      const { queue, message, exhausted } = await setup()
      const copies = [exhausted, { ...exhausted, name: 'shop/notify' }, { ...exhausted, life: 6 }].map((dead) =>
        deadLetterCopy(message, dead),
      )
      expect(new Set(copies.map(({ deduplicationId }) => deduplicationId)).size).toBe(3)
      for (const copy of copies) expect(await queue.deadLetter(copy)).toEqual({ status: 'sent' })
    })
  })
}
