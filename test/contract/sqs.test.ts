import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  type SendMessageBatchRequestEntry,
  SendMessageCommand,
  type SQSClient,
} from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createFakeSqs } from '../../src/testing/fake-sqs.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import type { LocalAws } from '../../src/testing/local-aws-options.ts'
import { connectGivenSqs, SQS_ENDPOINT } from '../support/given-sqs.ts'

/** SQS's behaviour that relay and consumer stand on: the same of the fake, of the local AWS's engine, and of `SQS_ENDPOINT`. */

type Subject = { readonly client: SQSClient; readonly newQueue: () => Promise<string> }

let aws: LocalAws
const subjects: [string, () => Subject][] = [
  ['the fake', fake],
  ['the local AWS', local],
  ...(SQS_ENDPOINT === undefined ? [] : [given(SQS_ENDPOINT)]),
]

beforeAll(async () => {
  aws = await startLocalAws()
})
afterAll(() => aws.stop())

function fake(): Subject {
  const { client, queueUrl } = createFakeSqs()
  return { client, newQueue: async () => queueUrl }
}

let queues = 0
function local(): Subject {
  queues += 1
  return { client: aws.sqs, newQueue: async () => (await aws.createQueue(`contract-${queues}`)).url }
}

function given(endpoint: string): [string, () => Subject] {
  const { client, createQueue } = connectGivenSqs(endpoint)
  return ['SQS_ENDPOINT', () => ({ client, newQueue: createQueue })]
}

function entry(
  Id: string,
  group = 'g',
  more: Partial<SendMessageBatchRequestEntry> = {},
): SendMessageBatchRequestEntry {
  return { Id, MessageBody: `body ${Id}`, MessageGroupId: group, MessageDeduplicationId: `id-${Id}`, ...more }
}

describe.each(subjects)('SQS as played by %s', (_, subject) => {
  const start = async () => {
    const { client, newQueue } = subject()
    const QueueUrl = await newQueue()
    const send = (...Entries: SendMessageBatchRequestEntry[]) =>
      client.send(new SendMessageBatchCommand({ QueueUrl, Entries }))
    const receive = async (MaxNumberOfMessages = 10) =>
      (
        await client.send(
          new ReceiveMessageCommand({
            QueueUrl,
            MaxNumberOfMessages,
            AttributeNames: ['All'],
            MessageAttributeNames: ['All'],
          }),
        )
      ).Messages ?? []
    return { client, QueueUrl, send, receive }
  }

  it('keeps the order of a group, hands out several of it at once, and blocks it until they are deleted', async () => {
    const { client, QueueUrl, send, receive } = await start()
    await send(entry('1'), entry('2'), entry('3', 'other'), entry('4'))
    const first = await receive(2)
    expect(first.map(({ Body }) => Body)).toEqual(['body 1', 'body 2'])
    expect((await receive()).map(({ Body }) => Body)).toEqual(['body 3'])
    const Entries = first.map(({ ReceiptHandle }, n) => ({ Id: String(n), ReceiptHandle }))
    expect((await client.send(new DeleteMessageBatchCommand({ QueueUrl, Entries }))).Failed ?? []).toEqual([])
    expect((await receive()).map(({ Body }) => Body)).toEqual(['body 4'])
  })

  it('carries body, attributes and ids', async () => {
    const { send, receive } = await start()
    const MessageAttributes = { outbox: { DataType: 'String', StringValue: 'nöte 😀' } }
    await send(entry('1', 'source/group', { MessageBody: '{"a":"😀"}', MessageAttributes }))
    const [message] = await receive()
    expect(message).toMatchObject({
      Body: '{"a":"😀"}',
      MessageAttributes,
      Attributes: { MessageGroupId: 'source/group', MessageDeduplicationId: 'id-1', ApproximateReceiveCount: '1' },
    })
  })

  it('swallows a repeated id, though its message was deleted, and says it was sent', async () => {
    const { client, QueueUrl, send, receive } = await start()
    const first = await send(entry('1'))
    const [message] = await receive()
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: message?.ReceiptHandle }))
    const again = await send(entry('1', 'g', { MessageBody: 'another' }))
    expect(again.Successful?.[0]?.MessageId).toBe(first.Successful?.[0]?.MessageId)
    expect(again.Failed ?? []).toEqual([])
    expect(await receive()).toEqual([])
  })

  it('takes the good entries of a request whose others it refuses', async () => {
    const { send, receive } = await start()
    const answer = await send(
      entry('1'),
      entry('2', 'g', { MessageBody: 'x\uFFFF' }),
      entry('3', 'with space'),
      entry('4'),
    )
    expect(answer.Successful?.map(({ Id }) => Id)).toEqual(['1', '4'])
    expect(answer.Failed?.map(({ Id, Code, SenderFault }) => [Id, Code, SenderFault])).toEqual([
      ['2', 'InvalidMessageContents', true],
      ['3', 'InvalidParameterValue', true],
    ])
    expect((await receive()).map(({ Body }) => Body)).toEqual(['body 1', 'body 4'])
  })

  it('answers a request of refused entries alone', async () => {
    const { send } = await start()
    const { Successful, Failed } = await send(entry('1', 'with space'))
    expect([Successful ?? [], Failed?.map(({ Id }) => Id)]).toEqual([[], ['1']])
  })

  it('refuses a request over its limits as a whole, and a single message by an error', async () => {
    const { client, QueueUrl, send, receive } = await start()
    const named = (name: string) => expect.objectContaining({ name })
    await expect(send(...Array.from({ length: 11 }, (_, n) => entry(String(n))))).rejects.toThrow(
      named('TooManyEntriesInBatchRequest'),
    )
    await expect(send(entry('1'), entry('1'))).rejects.toThrow(named('BatchEntryIdsNotDistinct'))
    await expect(send(entry('a/b'))).rejects.toThrow(named('InvalidBatchEntryId'))
    const half = 'x'.repeat(524_289)
    await expect(send(entry('1', 'g', { MessageBody: half }), entry('2', 'g', { MessageBody: half }))).rejects.toThrow(
      named('BatchRequestTooLong'),
    )
    const single = { QueueUrl, MessageBody: '\u0000', MessageGroupId: 'g', MessageDeduplicationId: '1' }
    await expect(client.send(new SendMessageCommand(single))).rejects.toThrow(named('InvalidMessageContents'))
    expect(await receive()).toEqual([])
  })

  it('changes visibility entry by entry, and refuses a handle that is made up or spent', async () => {
    const { client, QueueUrl, send, receive } = await start()
    await send(entry('1'), entry('2'))
    const [first, second] = await receive()
    await client.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: second?.ReceiptHandle }))
    const change = (Id: string, ReceiptHandle: string | undefined, VisibilityTimeout = 0) => ({
      Id,
      ReceiptHandle,
      VisibilityTimeout,
    })
    const { Successful, Failed } = await client.send(
      new ChangeMessageVisibilityBatchCommand({
        QueueUrl,
        Entries: [
          change('live', first?.ReceiptHandle),
          change('spent', second?.ReceiptHandle),
          change('made-up', 'made up'),
          change('long', first?.ReceiptHandle, 43_201),
        ],
      }),
    )
    expect(Successful?.map(({ Id }) => Id)).toEqual(['live'])
    expect(Failed?.map(({ Id, Code }) => [Id, Code])).toEqual([
      ['spent', 'InvalidParameterValue'],
      ['made-up', 'ReceiptHandleIsInvalid'],
      ['long', 'InvalidParameterValue'],
    ])
    expect((await receive()).map(({ Body, Attributes }) => [Body, Attributes?.ApproximateReceiveCount])).toEqual([
      ['body 1', '2'],
    ])
  })

  it('knows no queue of another name', async () => {
    const { client, QueueUrl } = await start()
    const request = {
      QueueUrl: QueueUrl.replace(/[^/]+$/, 'nowhere.fifo'),
      MessageBody: 'x',
      MessageGroupId: 'g',
      MessageDeduplicationId: 'x',
    }
    await expect(client.send(new SendMessageCommand(request))).rejects.toThrow(
      expect.objectContaining({ name: 'QueueDoesNotExist' }),
    )
  })
})
