import { CreateQueueCommand, SQSClient } from '@aws-sdk/client-sqs'
import { buildApp } from 'fauxqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deadLetterCopy } from '../../src/consumer/dead-letter-copy.ts'
import { readMessage } from '../../src/consumer/message.ts'
import { createSqsQueue } from '../../src/consumer/sqs-queue.ts'
import { LIFE_ATTRIBUTE } from '../../src/event/life.ts'
import { createFakeSqs } from '../../src/testing/fake-sqs.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'
import { sqsRecord } from '../../src/testing/records.ts'
import type { SqsFault } from '../../src/testing/sqs-rules.ts'
import { proves } from '../cases.ts'
import { connectGivenSqs, SQS_ENDPOINT } from '../support/given-sqs.ts'
import { describeConsumerQueue } from './consumer-queue-contract.ts'

const app = buildApp({ logger: false })
let client: SQSClient
let queues = 0

beforeAll(async () => {
  const endpoint = await app.listen({ host: '127.0.0.1', port: 0 })
  client = new SQSClient({
    endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
})
afterAll(async () => {
  client.destroy()
  await app.close()
})

describeConsumerQueue('engine', async () => {
  const create = async (name: string) => {
    const input = { QueueName: name, Attributes: { FifoQueue: 'true', VisibilityTimeout: '60' } }
    return (await client.send(new CreateQueueCommand(input))).QueueUrl ?? ''
  }
  const [queueUrl, deadLetterUrl] = [await create(`q${++queues}.fifo`), await create(`q${queues}-dead.fifo`)]
  return {
    queue: createSqsQueue({ client, deadLetterQueueUrl: deadLetterUrl, queueUrl }),
    client,
    queueUrl,
    deadLetterUrl,
  }
})

describeConsumerQueue('strict fake', async () => {
  const { client: fake, queueUrl, deadLetterUrl } = createFakeSqs()
  return {
    queue: createSqsQueue({ client: fake, deadLetterQueueUrl: deadLetterUrl, queueUrl }),
    client: fake,
    queueUrl,
    deadLetterUrl,
  }
})

if (SQS_ENDPOINT !== undefined) {
  const given = connectGivenSqs(SQS_ENDPOINT)
  describeConsumerQueue('SQS_ENDPOINT', async () => {
    const [queueUrl, deadLetterUrl] = [await given.createQueue(), await given.createQueue()]
    const queue = createSqsQueue({ client: given.client, deadLetterQueueUrl: deadLetterUrl, queueUrl })
    return { queue, client: given.client, queueUrl, deadLetterUrl }
  })
}

describe("consumer's queue, where SQS refuses", () => {
  const refusing = (fault: Partial<SqsFault>, options: { queueName?: string } = {}) => {
    const sqs = createFakeSqs({
      ...options,
      failRequest: () => ({ code: 'AccessDenied', message: '', senderFault: true, ...fault }),
    })
    return createSqsQueue({ client: sqs.client, deadLetterQueueUrl: sqs.deadLetterUrl, queueUrl: sqs.queueUrl })
  }
  const exhausted = {
    id: 'e',
    name: 'c/h',
    token: 't',
    status: 'failed',
    attempts: 1,
    life: 1,
    failure: 'broken',
  } as const

  it('takes an error of the whole request for an outage, never for lost handles', async () => {
    const entries = [
      { receiptHandle: 'a', seconds: 1 },
      { receiptHandle: 'b', seconds: 1 },
    ]
    for (const code of ['AccessDenied', 'RequestThrottled', 'QueueDoesNotExist', 'InternalError']) {
      expect(await refusing({ code }).setVisibility('', entries)).toEqual(['failed', 'failed'])
    }
  })

  it('does not take more than twelve hours for a lost handle', async () => {
    const clock = createManualClock()
    const sqs = createFakeSqs({ clock })
    const queue = createSqsQueue({ client: sqs.client, deadLetterQueueUrl: sqs.deadLetterUrl, queueUrl: sqs.queueUrl })
    sqs.queue.accept({ messageId: 'm', body: 'b', md5OfBody: '', attributes: {}, groupId: 'g', deduplicationId: 'd' })
    const [message] = sqs.queue.receive(1, 43_200_000)
    await clock.advance(1000)
    const setTo = (seconds: number) => queue.setVisibility('', [{ receiptHandle: message?.handle ?? '', seconds }])
    expect(await setTo(43_200)).toEqual(['failed'])
    expect(await setTo(43_199)).toEqual(['changed'])
  })

  it('says that a copy was not sent, and why', async () => {
    const message = readMessage(sqsRecord({ body: '{}' }))
    const outcome = await refusing({ code: 'KmsDisabled' }).deadLetter(deadLetterCopy(message, exhausted))
    expect(outcome).toEqual({ status: 'failed', reason: expect.stringContaining('KmsDisabled') })
  })

  it('takes a refused handle for lost, whichever words say so, and nothing else', async () => {
    const outcomeOf = async (Code: string | undefined, Message?: string) => {
      const send = async () => ({ Failed: [{ Id: '1', Code, Message }] })
      const deadLetterQueueUrl = 'https://sqs.us-east-1.amazonaws.com/1/dead.fifo'
      const queue = createSqsQueue({
        client: Object.assign(new SQSClient({ region: 'us-east-1' }), { send }),
        deadLetterQueueUrl,
      })
      const entries = ['a', 'b'].map((receiptHandle) => ({ receiptHandle, seconds: 1 }))
      return queue.setVisibility('arn:aws:sqs:us-east-1:1:q.fifo', entries)
    }
    expect(await outcomeOf('ReceiptHandleIsInvalid')).toEqual(['changed', 'lost'])
    expect(await outcomeOf('AWS.SimpleQueueService.MessageNotInflight')).toEqual(['changed', 'lost'])
    expect(await outcomeOf('InvalidParameterValue', 'Value x for parameter ReceiptHandle is invalid')).toEqual([
      'changed',
      'lost',
    ])
    expect(await outcomeOf('InvalidParameterValue', 'The receipt handle has expired')).toEqual(['changed', 'lost'])
    expect(await outcomeOf('InvalidParameterValue', 'Total VisibilityTimeout is beyond the limit')).toEqual([
      'changed',
      'failed',
    ])
    expect(await outcomeOf('InternalError', 'receipt handle')).toEqual(['changed', 'failed'])
    expect(await outcomeOf(undefined)).toEqual(['changed', 'failed'])
  })

  it('asks for nothing where there is nothing to set, and takes an answer without failures for success', async () => {
    const sqs = createFakeSqs()
    const queue = createSqsQueue({ client: sqs.client, deadLetterQueueUrl: sqs.deadLetterUrl, queueUrl: sqs.queueUrl })
    expect(await queue.setVisibility('', [])).toEqual([])
    expect(sqs.requests).toEqual([])
  })

  it('carries attributes of bytes into a copy', async () => {
    const sqs = createFakeSqs()
    const queue = createSqsQueue({ client: sqs.client, deadLetterQueueUrl: sqs.deadLetterUrl, queueUrl: sqs.queueUrl })
    const attributes = {
      bytes: { dataType: 'Binary', binaryValue: Buffer.from([1, 2]).toString('base64') },
      text: { dataType: 'String', stringValue: 'x', binaryValue: '' },
    }
    await queue.deadLetter({ body: 'b', groupId: 'g', deduplicationId: 'd', attributes })
    const [copy] = sqs.deadLetters.receive(1)
    expect(copy?.attributes).toMatchObject({
      bytes: { DataType: 'Binary', BinaryValue: Buffer.from([1, 2]).toString('base64') },
      text: { DataType: 'String', StringValue: 'x' },
    })
  })

  it('sets nothing where no URL is known', async () => {
    const sqs = createFakeSqs()
    const queue = createSqsQueue({ client: sqs.client, deadLetterQueueUrl: sqs.deadLetterUrl })
    expect(await queue.setVisibility('', [{ receiptHandle: 'a', seconds: 1 }])).toEqual(['failed'])
    expect(sqs.requests).toEqual([])
  })

  it('sends a copy to a standard queue without group and deduplication id', async () => {
    const sqs = createFakeSqs({ queueName: 'queue' })
    const queue = createSqsQueue({ client: sqs.client, deadLetterQueueUrl: sqs.deadLetterUrl, queueUrl: sqs.queueUrl })
    const message = readMessage(sqsRecord({ body: '{}' }))
    expect(await queue.deadLetter(deadLetterCopy(message, exhausted))).toEqual({ status: 'sent' })
    expect(sqs.deadLetters.depth().visible).toBe(1)
  })

  it('keeps within ten attributes, ours among them', proves('few-attributes'), async () => {
    const attributes = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`a${n}`, 'x']))
    const copy = deadLetterCopy(readMessage(sqsRecord({ body: '{}', attributes })), exhausted)
    expect(Object.keys(copy.attributes)).toHaveLength(10)
    expect(copy.attributes).toHaveProperty(LIFE_ATTRIBUTE)
  })
})
