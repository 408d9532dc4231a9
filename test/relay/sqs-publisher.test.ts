import type { SendMessageBatchCommandOutput, SendMessageBatchRequestEntry } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import type { OutgoingMessage } from '../../src/relay/publisher.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import { proves } from '../cases.ts'
import { awsError, networkError } from '../support/faults.ts'

const FIFO = 'https://sqs.us-east-1.amazonaws.com/123/orders.fifo'
const message = (n: number, body = `{"n":${n}}`): OutgoingMessage => ({
  deduplicationId: `d${n}`,
  groupId: `g/${n}#:`,
  body,
})

type Answer = Partial<SendMessageBatchCommandOutput> | Error
type Input = { QueueUrl: string; Entries: SendMessageBatchRequestEntry[] }

/** A client that answers as it is told, for the answers that no engine gives. */
function publisherWith(answer: (entries: SendMessageBatchRequestEntry[]) => Answer, queueUrl = FIFO) {
  const inputs: Input[] = []
  const client = {
    send: async ({ input }: { input: Input }) => {
      inputs.push(input)
      const given = answer(input.Entries)
      if (given instanceof Error) throw given
      return given
    },
  }
  return { inputs, publisher: createSqsPublisher({ client: client as never, queueUrl }) }
}

const sent = (entries: readonly SendMessageBatchRequestEntry[]) =>
  entries.map(({ Id }) => ({ Id, MessageId: 'm', MD5OfMessageBody: '' }))
const failed = (Id: string | undefined, Code: string, Message?: string, SenderFault = true) => ({
  Id,
  Code,
  Message,
  SenderFault,
})

describe('createSqsPublisher', () => {
  it(
    'sends indexes as entry ids, the body verbatim, and group and deduplication id',
    proves('entry-ids', 'ids-on-every-path', 'few-attributes', 'no-message-delay'),
    async () => {
      const { publisher, inputs } = publisherWith((entries) => ({ Successful: sent(entries) as never }))
      const messages = [message(0), { ...message(1), deduplicationId: 'd'.repeat(100) }]
      expect(await publisher.publish(messages)).toEqual([{ status: 'accepted' }, { status: 'accepted' }])
      expect(inputs).toEqual([
        {
          QueueUrl: FIFO,
          Entries: [
            { Id: '0', MessageBody: '{"n":0}', MessageGroupId: 'g/0#:', MessageDeduplicationId: 'd0' },
            { Id: '1', MessageBody: '{"n":1}', MessageGroupId: 'g/1#:', MessageDeduplicationId: 'd'.repeat(100) },
          ],
        },
      ])
    },
  )

  it(
    'accounts for each entry of a 200 answer: one in neither list, or in both, was not sent',
    proves('entry-refused-in-200'),
    async () => {
      const { publisher } = publisherWith((entries) => ({
        Successful: sent([entries[0], entries[3]].filter((entry) => entry !== undefined)) as never,
        Failed: [failed('1', 'InternalError', undefined, false), failed('3', 'InternalError', undefined, false)],
      }))
      const outcomes = await publisher.publish([0, 1, 2, 3].map((n) => message(n)))
      expect(outcomes.map(({ status }) => status)).toEqual(['accepted', 'failed', 'failed', 'failed'])
    },
  )

  it.each([
    ['InvalidMessageContents', 'Invalid binary character', 'refused'],
    ['AWS.SimpleQueueService.InvalidMessageContents', 'x', 'refused'],
    [
      'InvalidParameterValue',
      'One or more parameters are invalid. Reason: Message must be shorter than 262144 bytes.',
      'refused',
    ],
    ['InvalidParameterValueException', 'Message must be shorter than 262144 bytes.', 'refused'],
    ['InvalidParameterValue', 'The queue should either have ContentBasedDeduplication enabled', 'failed'],
    ['KmsAccessDenied', 'no', 'failed'],
    ['KmsDisabled', 'no', 'failed'],
    ['KMS.DisabledException', 'no', 'failed'],
    ['AccessDenied', 'no', 'failed'],
    ['MissingParameter', 'no', 'failed'],
    ['RequestThrottled', 'slow', 'failed'],
    ['SomethingNew', '', 'failed'],
  ])('takes a failed entry with %s (%s) for %s', proves('outage-of-permission'), async (code, text, status) => {
    const { publisher } = publisherWith(() => ({ Failed: [failed('0', code, text)] }))
    expect(await publisher.publish([message(0)])).toMatchObject([{ status }])
  })

  it('keeps the reason of a refusal', async () => {
    const { publisher } = publisherWith(() => ({ Failed: [failed('0', 'InvalidMessageContents', 'bad character')] }))
    expect(await publisher.publish([message(0)])).toEqual([
      { status: 'refused', reason: 'InvalidMessageContents: bad character' },
    ])
  })

  it.each([
    'QueueDoesNotExist',
    'AccessDenied',
    'KmsAccessDenied',
    'RequestThrottled',
    'OverLimit',
    'InvalidAddress',
    'ServiceUnavailable',
  ])(
    'takes %s of a whole request for an outage of all its entries, without asking again',
    proves('outage-of-permission'),
    async (name) => {
      const { publisher, inputs } = publisherWith(() => awsError(name))
      expect(await publisher.publish([message(0), message(1)])).toEqual([
        { status: 'failed', reason: name },
        { status: 'failed', reason: name },
      ])
      expect(inputs).toHaveLength(1)
    },
  )

  it('takes a lost answer for a failure to send', async () => {
    const { publisher } = publisherWith(() => networkError())
    expect(await publisher.publish([message(0)])).toEqual([{ status: 'failed', reason: 'TimeoutError' }])
  })

  it.each(['BatchRequestTooLong', 'InvalidParameterValueException', 'InvalidMessageContents'])(
    'sends the entries one by one when %s refused the request, so that one does not condemn the others',
    proves('refused-for-content'),
    async (name) => {
      const { publisher, inputs } = publisherWith((entries) => {
        const bad = entries.some(({ MessageBody }) => MessageBody === 'bad')
        if (!bad) return { Successful: sent(entries) as never }
        return Object.assign(awsError(name), { message: 'Message must be shorter than 262144 bytes.' })
      })
      const outcomes = await publisher.publish([message(0), message(1, 'bad'), message(2)])
      expect(outcomes.map(({ status }) => status)).toEqual(['accepted', 'refused', 'accepted'])
      expect(inputs.map(({ Entries }) => Entries.length)).toEqual([3, 1, 1, 1])
    },
  )

  it('sends neither group nor deduplication id to a standard queue, which would refuse them', async () => {
    const { publisher, inputs } = publisherWith(
      (entries) => ({ Successful: sent(entries) as never }),
      'https://sqs/1/orders',
    )
    await publisher.publish([message(0)])
    expect(inputs[0]?.Entries).toEqual([{ Id: '0', MessageBody: '{"n":0}' }])
  })

  it('sends the note of a replay as the one attribute of ours, and counts it', proves('few-attributes'), async () => {
    const { publisher, inputs } = publisherWith((entries) => ({ Successful: sent(entries) as never }))
    const note = '{"life":2,"handlers":["stats/count"]}'
    const replayed = { ...message(0), note }
    await publisher.publish([replayed, message(1)])
    const MessageAttributes = { outbox: { DataType: 'String', StringValue: note } }
    expect(inputs[0]?.Entries[0]).toMatchObject({ MessageBody: '{"n":0}', MessageAttributes })
    expect(inputs[0]?.Entries[1]).not.toHaveProperty('MessageAttributes')
    expect(publisher.sizeOf(replayed) - publisher.sizeOf(message(0))).toBe('outboxString'.length + note.length)
  })

  it('counts UTF-8 bytes', proves('request-limits'), () => {
    const { publisher } = publisherWith(() => ({}))
    expect(publisher.sizeOf(message(0, 'aé€😀'))).toBe(10)
    expect(publisher).toMatchObject({ name: 'orders.fifo', maxEntries: 10, maxBytes: 1_048_576 })
  })

  it('refuses unknown options, and a name that is too long', () => {
    const client = { send: async () => ({}) } as never
    expect(() => createSqsPublisher({ client, queueUrl: FIFO, delay: 5 } as never)).toThrow('"delay"')
    expect(() => createSqsPublisher({ client, queueUrl: FIFO, name: 'n'.repeat(65) })).toThrow('1 to 64')
    expect(createSqsPublisher({ client, queueUrl: FIFO, name: 'orders' }).name).toBe('orders')
  })
})
