import { ReceiveMessageCommand, SendMessageBatchCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import { createFakeSqs, type FakeSqs, type FakeSqsOptions } from '../../src/testing/fake-sqs.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'
import { fault } from '../../src/testing/sqs-rules.ts'

const entry = (Id: string, MessageDeduplicationId = Id, MessageGroupId = 'g') => ({
  Id,
  MessageBody: `body ${Id}`,
  MessageDeduplicationId,
  MessageGroupId,
})
const sendBatch = ({ client, queueUrl }: FakeSqs, ...Entries: ReturnType<typeof entry>[]) =>
  client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries }))

describe('the fake SQS', () => {
  it('refuses single entries when told to, and accepts later ones of the same group', async () => {
    const fake = createFakeSqs({
      refuseEntry: ({ Id }) => (Id === '1' ? fault('InternalError', 'try again', false) : undefined),
    })
    const { Successful = [], Failed = [] } = await sendBatch(fake, entry('0'), entry('1'), entry('2'))
    expect(Successful.map(({ Id }) => Id)).toEqual(['0', '2'])
    expect(Failed).toEqual([{ Id: '1', Code: 'InternalError', Message: 'try again', SenderFault: false }])
    expect(fake.queue.depth().visible).toBe(2)
  })

  it('refuses requests as a whole when told to, and records them', async () => {
    const fake = createFakeSqs({ failRequest: () => fault('KmsAccessDenied', 'no key') })
    await expect(sendBatch(fake, entry('0'), entry('1'))).rejects.toThrow(
      expect.objectContaining({ name: 'KmsAccessDenied' }),
    )
    expect(fake.requests).toEqual([{ action: 'SendMessageBatch', entries: 2 }])
    expect(fake.queue.depth().visible).toBe(0)
  })

  it('knows its two queues and no other', async () => {
    const { client, deadLetterUrl } = createFakeSqs()
    const body = { MessageBody: 'x', MessageGroupId: 'g', MessageDeduplicationId: 'x' }
    await client.send(new SendMessageCommand({ QueueUrl: deadLetterUrl, ...body }))
    await expect(
      client.send(new SendMessageCommand({ QueueUrl: 'http://sqs.invalid/000000000000/other.fifo', ...body })),
    ).rejects.toThrow(expect.objectContaining({ name: 'QueueDoesNotExist' }))
  })

  it('deduplicates for five minutes from the first, to both sides of that moment', async () => {
    const clock = createManualClock()
    const fake = createFakeSqs({ clock })
    const sent = async (): Promise<string | undefined> => (await sendBatch(fake, entry('0'))).Successful?.[0]?.MessageId
    const first = await sent()
    await clock.advance(300_000)
    expect(await sent()).toBe(first)
    await clock.advance(1)
    expect(await sent()).not.toBe(first)
    expect(fake.queue.depth().visible).toBe(2)
  })

  it.each([
    ['queue', 1],
    ['messageGroup', 2],
  ])('deduplicates within the %s when that is the scope', async (DeduplicationScope, messages) => {
    const fake = createFakeSqs({ attributes: { DeduplicationScope } })
    await sendBatch(fake, entry('0', 'same', 'g1'), entry('1', 'same', 'g2'))
    expect(fake.queue.depth().visible).toBe(messages)
  })

  it('derives the deduplication id from the body where the queue says so', async () => {
    const fake = createFakeSqs({ attributes: { ContentBasedDeduplication: 'true' } })
    const send = (MessageBody: string) =>
      fake.client.send(new SendMessageCommand({ QueueUrl: fake.queueUrl, MessageBody, MessageGroupId: 'g' }))
    const [first, second, third] = [await send('😀'), await send('😀'), await send('😁')]
    expect(second.MessageId).toBe(first.MessageId)
    expect(third.MessageId).not.toBe(first.MessageId)
  })

  it('wakes a long poll when a message arrives', async () => {
    const fake = createFakeSqs()
    const poll = fake.client.send(new ReceiveMessageCommand({ QueueUrl: fake.queueUrl, WaitTimeSeconds: 20 }))
    await sendBatch(fake, entry('0'))
    expect((await poll).Messages).toMatchObject([{ Body: 'body 0' }])
  })
})

describe("SQS's rules for a send", () => {
  const oneMiB = 1_048_576
  const base = entry('0')
  const wrong: [string, string, object[], FakeSqsOptions?][] = [
    ['no entry', 'EmptyBatchRequest', []],
    ['eleven entries', 'TooManyEntriesInBatchRequest', Array.from({ length: 11 }, (_, n) => entry(String(n)))],
    ['an entry id of 81 characters', 'InvalidBatchEntryId', [entry('x'.repeat(81))]],
    ['an entry id with a colon', 'InvalidBatchEntryId', [entry('a:b')]],
    ['an entry id twice', 'BatchEntryIdsNotDistinct', [entry('0'), entry('0', 'other')]],
    [
      '1 MiB and one byte together',
      'BatchRequestTooLong',
      [
        { ...base, MessageBody: 'é'.repeat(oneMiB / 2) },
        { ...entry('1'), MessageBody: 'x' },
      ],
    ],
    [
      '1 MiB with the attribute over it',
      'BatchRequestTooLong',
      [
        {
          ...base,
          MessageBody: 'x'.repeat(oneMiB),
          MessageAttributes: { a: { DataType: 'String', StringValue: 'x' } },
        },
      ],
    ],
  ]
  it.each(wrong)('refuse a batch with %s as a whole', async (_, name, Entries) => {
    const { client, queueUrl } = createFakeSqs()
    const sending = client.send(new SendMessageBatchCommand({ QueueUrl: queueUrl, Entries: Entries as never }))
    await expect(sending).rejects.toThrow(expect.objectContaining({ name }))
  })

  const badEntries: [string, string, object, FakeSqsOptions?][] = [
    ['U+FFFE', 'InvalidMessageContents', { ...base, MessageBody: 'a\uFFFE' }],
    ['a control character', 'InvalidMessageContents', { ...base, MessageBody: '\u0001' }],
    [
      'a forbidden character in an attribute',
      'InvalidMessageContents',
      { ...base, MessageAttributes: { a: { DataType: 'String', StringValue: '\u0000' } } },
    ],
    [
      'an empty attribute',
      'InvalidParameterValue',
      { ...base, MessageAttributes: { a: { DataType: 'String', StringValue: '' } } },
    ],
    [
      'eleven attributes',
      'InvalidParameterValue',
      {
        ...base,
        MessageAttributes: Object.fromEntries(
          Array.from({ length: 11 }, (_, n) => [`a${n}`, { DataType: 'String', StringValue: 'x' }]),
        ),
      },
    ],
    ['no body', 'MissingParameter', { ...base, MessageBody: '' }],
    ['no group', 'MissingParameter', { ...base, MessageGroupId: undefined }],
    ['a group id with a space', 'InvalidParameterValue', { ...base, MessageGroupId: 'a b' }],
    ['a group id of 129 characters', 'InvalidParameterValue', { ...base, MessageGroupId: 'x'.repeat(129) }],
    ['a deduplication id beyond ASCII', 'InvalidParameterValue', { ...base, MessageDeduplicationId: 'é' }],
    ['no deduplication id', 'InvalidParameterValue', { ...base, MessageDeduplicationId: undefined }],
    ['a delay', 'InvalidParameterValue', { ...base, DelaySeconds: 5 }],
    [
      "more than the queue's own maximum",
      'InvalidParameterValue',
      { ...base, MessageBody: 'x'.repeat(1025) },
      { attributes: { MaximumMessageSize: '1024' } },
    ],
    [
      'a deduplication id on a standard queue',
      'InvalidParameterValue',
      { ...base, MessageGroupId: undefined },
      { queueName: 'standard' },
    ],
  ]
  it.each(badEntries)('refuse an entry with %s and take its neighbour', async (_, Code, bad, options) => {
    const fake = createFakeSqs(options)
    const good = fake.queue.fifo ? entry('9') : { Id: '9', MessageBody: 'x' }
    const { Successful, Failed } = await fake.client.send(
      new SendMessageBatchCommand({ QueueUrl: fake.queueUrl, Entries: [bad as never, good] }),
    )
    expect(Failed).toMatchObject([{ Id: '0', Code, SenderFault: true }])
    expect(Successful).toMatchObject([{ Id: '9' }])
  })

  it('take all that Unicode has to offer beside those, and 1 MiB', async () => {
    const fake = createFakeSqs()
    const MessageBody = '\t\n\r \uD7FF\uE000\uFFFD\u{10000}\u{10FFFF}😀'
    const { Successful } = await sendBatch(fake, { ...entry('0'), MessageBody })
    expect(Successful).toHaveLength(1)
    expect((await sendBatch(fake, { ...entry('1'), MessageBody: 'x'.repeat(oneMiB) })).Successful).toHaveLength(1)
  })
})
