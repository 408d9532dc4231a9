import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isOutboxError } from '../../src/errors.ts'
import { startDynamoEngine } from '../../src/testing/dynamo-engine.ts'
import type { SqsEvent, StreamEvent, StreamRecord } from '../../src/testing/lambda-events.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import type { LocalAws } from '../../src/testing/local-aws-options.ts'
import type { LocalQueueInfo } from '../../src/testing/local-queue-info.ts'
import { processFunction } from '../../src/testing/process-function.ts'
import { waitFor } from '../../src/testing/wait.ts'

let aws: LocalAws
beforeAll(async () => {
  aws = await startLocalAws({ speed: 100, onFunctionError: () => {} })
})
afterAll(() => aws.stop())

const row = (pk: string): PutItemCommand =>
  new PutItemCommand({ TableName: aws.outboxTable, Item: { pk: { S: pk }, sk: { S: '-' }, body: { S: pk } } })
const pkOf = (record: StreamRecord): string => {
  const { pk } = record.dynamodb.Keys
  return pk !== undefined && 'S' in pk ? pk.S : ''
}

async function send(queue: LocalQueueInfo, group: string, ...bodies: string[]): Promise<void> {
  for (const body of bodies) {
    const ids = { MessageGroupId: group, MessageDeduplicationId: `${group}-${body}`.replace(/[^!-~]/g, '_') }
    await aws.sqs.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody: body, ...ids }))
  }
}

describe('a local AWS', () => {
  it('carries a row from the table through the stream and a queue to a consumer, and knows when all is done', async () => {
    const queue = await aws.createQueue('flow')
    const received: string[] = []
    const relay = await aws.connectStream({
      handler: async ({ Records }) => {
        const Entries = Records.map((record, n) => ({
          Id: String(n),
          MessageBody: pkOf(record),
          MessageGroupId: 'g',
          MessageDeduplicationId: record.eventID,
        }))
        await aws.sqs.send(new SendMessageBatchCommand({ QueueUrl: queue.url, Entries }))
      },
      batchSize: 10,
      filter: { eventName: ['INSERT'], dynamodb: { Keys: { pk: { S: [{ prefix: 'flow-' }] } } } },
    })
    // A consumer that writes again: idle waits for that too.
    const consumer = aws.connectQueue({
      queue,
      handler: async ({ Records }) => {
        for (const { body } of Records) {
          received.push(body)
          if (!body.endsWith('x')) await aws.dynamo.send(row(`${body}x`))
        }
      },
    })
    for (let n = 0; n < 5; n += 1) await aws.dynamo.send(row(`flow-${n}`))
    await aws.idle()
    expect(received.toSorted()).toEqual([
      'flow-0',
      'flow-0x',
      'flow-1',
      'flow-1x',
      'flow-2',
      'flow-2x',
      'flow-3',
      'flow-3x',
      'flow-4',
      'flow-4x',
    ])
    await Promise.all([relay.stop(), consumer.stop()])
  })

  it('says what it still waits for', async () => {
    const queue = await aws.createQueue('stuck')
    const consumer = aws.connectQueue({
      queue,
      name: 'consumer',
      handler: () => {
        throw new Error('no')
      },
    })
    await send(queue, 'g', 'x')
    await expect(aws.idle({ timeoutMs: 100 })).rejects.toThrow(
      /Still waiting after 100 ms for 1 messages in stuck.fifo/,
    )
    await consumer.stop()
    aws.queue(queue.url).purge()
  })

  it('runs a retry cycle to the dead-letter queue on the unchanged schedule in a moment', async () => {
    const queue = await aws.createQueue('retries', {
      deadLetter: true,
      visibilityTimeoutSeconds: 30,
      maxReceiveCount: 3,
    })
    const times: number[] = []
    const consumer = aws.connectQueue({
      queue,
      timeoutMs: 20_000,
      handler: () => {
        times.push(aws.clock.now())
        throw new Error('no')
      },
    })
    await send(queue, 'g', 'x')
    await aws.idle()
    const [first = 0, second = 0, third = 0] = times
    expect(times).toHaveLength(3)
    // From receive to receive it is 30 s; the handler's own look at the clock may come a little later each time.
    expect(second - first).toBeGreaterThan(20_000)
    expect(third - second).toBeGreaterThan(20_000)
    const { Messages = [] } = await aws.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queue.deadLetterUrl, AttributeNames: ['All'] }),
    )
    expect(Messages[0]?.Attributes).toMatchObject({
      MessageGroupId: 'g',
      MessageDeduplicationId: Messages[0]?.MessageId,
      DeadLetterQueueSourceArn: queue.arn,
    })
    await consumer.stop()
  })

  it('takes changes of visibility, deletes and depths over HTTP for messages that a source has handed out', async () => {
    const queue = await aws.createQueue('visibility')
    const seen: { body: string; at: number; count: string }[] = []
    const results: unknown[] = []
    const consumer = aws.connectQueue({
      queue,
      reportBatchItemFailures: true,
      handler: async ({ Records }) => {
        seen.push(
          ...Records.map(({ body, attributes }) => ({
            body,
            at: aws.clock.now(),
            count: attributes.ApproximateReceiveCount,
          })),
        )
        const [record] = Records
        if (record === undefined || seen.length > 2) return undefined
        const Entries = [
          { Id: 'mine', ReceiptHandle: record.receiptHandle, VisibilityTimeout: 40 },
          { Id: 'made-up', ReceiptHandle: 'made up', VisibilityTimeout: 40 },
        ]
        results.push(await aws.sqs.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: queue.url, Entries })))
        results.push(
          await aws.sqs.send(new GetQueueAttributesCommand({ QueueUrl: queue.url, AttributeNames: ['All'] })),
        )
        results.push(
          await aws.sqs.send(
            new DeleteMessageBatchCommand({
              QueueUrl: queue.url,
              Entries: Records.slice(1).map(({ receiptHandle }) => ({ Id: '1', ReceiptHandle: receiptHandle })),
            }),
          ),
        )
        return { batchItemFailures: [{ itemIdentifier: record.messageId }] }
      },
    })
    const entry = (
      Id: string,
    ): { Id: string; MessageBody: string; MessageGroupId: string; MessageDeduplicationId: string } => ({
      Id,
      MessageBody: Id,
      MessageGroupId: 'g',
      MessageDeduplicationId: Id,
    })
    await aws.sqs.send(new SendMessageBatchCommand({ QueueUrl: queue.url, Entries: [entry('a1'), entry('a2')] }))
    await aws.idle()
    expect(seen.map(({ body, count }) => `${body} ${count}`)).toEqual(['a1 1', 'a2 1', 'a1 2'])
    expect((seen[2]?.at ?? 0) - (seen[0]?.at ?? 0)).toBeGreaterThanOrEqual(40_000)
    expect(results).toMatchObject([
      { Successful: [{ Id: 'mine' }], Failed: [{ Id: 'made-up', Code: 'ReceiptHandleIsInvalid', SenderFault: true }] },
      { Attributes: { ApproximateNumberOfMessages: '0', ApproximateNumberOfMessagesNotVisible: '2' } },
      { Successful: [{ Id: '1' }] },
    ])
    await consumer.stop()
  })

  it("answers receives from its queues, a long poll in the clock's time", async () => {
    const queue = await aws.createQueue('polled')
    const poll = aws.sqs.send(
      new ReceiveMessageCommand({
        QueueUrl: queue.url,
        MaxNumberOfMessages: 10,
        WaitTimeSeconds: 20,
        MessageAttributeNames: ['All'],
      }),
    )
    await aws.sqs.send(
      new SendMessageCommand({
        QueueUrl: queue.url,
        MessageBody: 'hello',
        MessageGroupId: 'g',
        MessageDeduplicationId: '1',
        MessageAttributes: { outbox: { DataType: 'String', StringValue: 'note' } },
      }),
    )
    const { Messages = [] } = await poll
    expect(Messages).toMatchObject([
      { Body: 'hello', MessageAttributes: { outbox: { DataType: 'String', StringValue: 'note' } } },
    ])
    const QueueUrl = queue.url
    const ReceiptHandle = Messages[0]?.ReceiptHandle
    await aws.sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 60 }))
    await aws.sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle }))
    const late = aws.sqs.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 60 }))
    await expect(late).rejects.toThrow('Message does not exist or is not available')
  })

  it('delivers every character that SQS allows', async () => {
    const queue = await aws.createQueue('characters')
    const bodies: string[] = []
    const consumer = aws.connectQueue({
      queue,
      handler: ({ Records }) => void bodies.push(...Records.map(({ body }) => body)),
    })
    await send(queue, 'g', 'emoji 😀 𐍈', 'plain', '\u{10FFFF}')
    await aws.idle()
    expect(bodies).toEqual(['emoji 😀 𐍈', 'plain', '\u{10FFFF}'])
    await consumer.stop()
  })

  it('loses none of many messages that nobody reads', async () => {
    const { url: QueueUrl } = await aws.createQueue('many')
    const entry = (request: number, n: number) => {
      const id = `${request}-${n}`
      return { Id: id, MessageBody: id, MessageGroupId: `g${n}`, MessageDeduplicationId: id }
    }
    const requests = Array.from({ length: 70 }, (_, request) => Array.from({ length: 10 }, (_, n) => entry(request, n)))
    await Promise.all(requests.map((Entries) => aws.sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries }))))
    expect(aws.queue(QueueUrl).depth()).toEqual({ visible: 700, invisible: 0, delayed: 0 })
    await aws.sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: requests[0] }))
    expect(aws.queue(QueueUrl).depth().visible).toBe(700)
  })

  it('answers 503 during an outage, and takes nothing', async () => {
    const queue = await aws.createQueue('outage')
    aws.setSqsOutage(true)
    const attempt = send(queue, 'g', 'x')
    await expect(attempt).rejects.toMatchObject({ $metadata: { httpStatusCode: 503 } })
    aws.setSqsOutage(false)
    expect(aws.queue(queue.url).depth().visible).toBe(0)
  })

  it('hands nothing to an event source during an outage, and everything after it', async () => {
    const queue = await aws.createQueue('outage-polled')
    const received: string[] = []
    await send(queue, 'g', 'before')
    aws.setSqsOutage(true)
    const handler = async ({ Records }: SqsEvent) => void received.push(...Records.map(({ body }) => body))
    const source = aws.connectQueue({ queue, handler })
    // Five round trips to another service: a source that polled would have delivered it.
    for (let n = 0; n < 5; n += 1) await aws.dynamo.send(row(`outage-${n}`))
    expect(received).toEqual([])
    aws.setSqsOutage(false)
    await waitFor(() => received.length === 1)
    await source.stop()
  })

  it('invokes a scheduled function each so many milliseconds of its clock', async () => {
    const times: number[] = []
    const began = aws.clock.now()
    const sweeper = aws.schedule({ everyMs: 10_000, handler: () => void times.push(aws.clock.now()) })
    await waitFor(() => times.length >= 3)
    await sweeper.stop()
    const count = times.length
    // A timer may end a millisecond early by the machine's clock: 100 of this one.
    expect((times[2] ?? 0) - began).toBeGreaterThanOrEqual(30_000 - 100)
    expect((await sweeper.run()).status).toBe('ok')
    expect(times).toHaveLength(count + 1)
  })

  it('survives a consumer process that is killed in mid-handler', async () => {
    const queue = await aws.createQueue('killed')
    const module = new URL('./fixtures/handlers.ts', import.meta.url)
    const code = processFunction({ module, export: 'crashOnce', env: { QUEUE_URL: queue.url } })
    const consumer = aws.connectQueue({ queue, handler: code, timeoutMs: 900_000 })
    await send(queue, 'g', 'x')
    const rows = async (): Promise<(string | undefined)[]> => {
      const FilterExpression = 'attribute_not_exists(body)'
      const { Items = [] } = await aws.dynamo.send(
        new ScanCommand({ TableName: aws.outboxTable, FilterExpression, ConsistentRead: true }),
      )
      return Items.map(({ sk }) => sk?.S).toSorted()
    }
    await waitFor(async () => (await rows()).length === 1)
    expect(code.kill()).toBe(1)
    await aws.idle()
    expect(await rows()).toEqual(['1', '2'])
    expect(consumer.function.counts()).toMatchObject({ error: 1, ok: 1 })
    await consumer.stop()
  })

  it('refuses unknown options, a bad filter, an unknown queue, and a timeout over the visibility', async () => {
    const queue = await aws.createQueue('settings', { visibilityTimeoutSeconds: 30 })
    const handler = (_: SqsEvent | StreamEvent): void => {}
    const isSetting = expect.toSatisfy((error) => isOutboxError(error, 'INVALID_SETTING'))
    await expect(startLocalAws({ sped: 2 } as object)).rejects.toThrow(isSetting)
    await expect(aws.connectStream({ handler, batchsize: 1 } as never)).rejects.toThrow(isSetting)
    await expect(aws.connectStream({ handler, table: aws.ledgerTable })).rejects.toThrow('has no stream')
    expect(() =>
      aws.connectQueue({ queue, handler, filter: { body: { n: [{ numeric: ['>', 1] } as never] } } }),
    ).toThrow(isSetting)
    expect(() => aws.connectQueue({ queue: 'nowhere', handler })).toThrow(isSetting)
    expect(() => aws.connectQueue({ queue, handler, timeoutMs: 30_001 })).toThrow(isSetting)
  })
})

describe('a clock at 3,000 times the speed', () => {
  it('forgets a deduplication id after five minutes, which pass in a tenth of a second', async () => {
    await using fast = await startLocalAws({ speed: 3000 })
    const { url: QueueUrl } = await fast.createQueue('twice')
    const message = { QueueUrl, MessageBody: 'x', MessageGroupId: 'g', MessageDeduplicationId: 'x' }
    const first = await fast.sqs.send(new SendMessageCommand(message))
    const again = await fast.sqs.send(new SendMessageCommand(message))
    expect(again.MessageId).toBe(first.MessageId)
    const later = await waitFor(async () => {
      const { MessageId } = await fast.sqs.send(new SendMessageCommand(message))
      return MessageId !== first.MessageId && fast.clock.now()
    })
    expect(later - fast.address.scale.origin).toBeGreaterThan(300_000)
    expect(fast.queue(QueueUrl).depth().visible).toBe(2)
  })
})

describe('several at once', () => {
  it('do not meet, and leave nothing listening when they end', async () => {
    const first = await startLocalAws({ dynamoEndpoint: '' })
    const second = await startLocalAws({ dynamoEndpoint: '' })
    const endpoints = [first, second].flatMap(({ address }) => [address.dynamoEndpoint, address.sqsEndpoint])
    expect(new Set(endpoints).size).toBe(4)
    expect(endpoints.every((endpoint) => endpoint.startsWith('http://127.0.0.1:'))).toBe(true)
    await first.createQueue('mine')
    expect(() => second.queue('mine.fifo')).toThrow()
    await Promise.all([first.stop(), second.stop()])
    for (const endpoint of endpoints) await expect(fetch(endpoint)).rejects.toThrow()
  })

  it('can share one DynamoDB endpoint, each with tables of its own, which go at the end', async () => {
    const engine = await startDynamoEngine('')
    const first = await startLocalAws({ dynamoEndpoint: engine.endpoint })
    const second = await startLocalAws({ dynamoEndpoint: engine.endpoint })
    expect(first.outboxTable).not.toBe(second.outboxTable)
    await first.stop()
    await expect(second.dynamo.send(new ScanCommand({ TableName: first.outboxTable }))).rejects.toThrow(
      expect.objectContaining({ name: 'ResourceNotFoundException' }),
    )
    await second.stop()
    await engine.stop()
  })

  it('end with a process that is killed', async () => {
    const script = `
      const { startLocalAws } = await import(${JSON.stringify(new URL('../../src/testing/local-aws.ts', import.meta.url).href)})
      const aws = await startLocalAws({ dynamoEndpoint: '' })
      process.stdout.write(aws.address.dynamoEndpoint)
    `
    const parent = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const [endpoint] = (await once(parent.stdout, 'data')).map(String)
    const answers = (): Promise<boolean> =>
      fetch(endpoint ?? '').then(
        () => true,
        () => false,
      )
    expect(await answers()).toBe(true)
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    await waitFor(async () => !(await answers()))
  })
})
