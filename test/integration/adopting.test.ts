import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch'
import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import type { Context, SQSEvent, SQSRecord } from 'aws-lambda'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import { processOnce } from '../../src/consumer/process-once.ts'
import { createLedger } from '../../src/ledger/dynamo-ledger.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { GRACE_MS } from '../../src/outbox/row.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import type { LocalAws } from '../../src/testing/local-aws-options.ts'
import type { LocalQueueInfo } from '../../src/testing/local-queue-info.ts'
import { LOCAL_REGION } from '../../src/testing/records.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { silent } from '../support/pipeline.ts'

let aws: LocalAws
let queue: LocalQueueInfo
let ledger: Ledger
beforeEach(async () => {
  aws = await startLocalAws({ speed: 5 })
  queue = await aws.createQueue('orders', { deadLetter: true })
  ledger = createLedger({ client: aws.dynamo, tableName: aws.ledgerTable, clock: aws.clock })
})
afterEach(() => aws.stop())

const DATA = { orderId: 'o-1', total: 42 }
const placed = { source: 'shop', type: 'order.placed', key: 'order/o-1', data: DATA }
const write = (...events: (typeof placed)[]) =>
  createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: aws.clock }).transact({ events })

/** Sends a body as a writer did before there was an outbox. */
const sendDirectly = (body: object) =>
  aws.sqs.send(
    new SendMessageCommand({
      QueueUrl: queue.url,
      MessageBody: JSON.stringify(body),
      MessageGroupId: 'before',
      MessageDeduplicationId: aws.clock.id(),
    }),
  )

it('from a direct SendMessage: the old consumer reads both forms, the event’s data in `data`', async () => {
  const read: unknown[] = []
  const consumer = async ({ Records }: { readonly Records: readonly { readonly body: string }[] }) => {
    for (const record of Records) {
      const body = JSON.parse(record.body)
      read.push(body.specversion === '1.0' ? body.data : body)
    }
    return { batchItemFailures: [] }
  }
  await aws.startRelay({ queue, logger: silent })
  aws.startConsumer({ queue, consumer })
  await sendDirectly(DATA)
  await write(placed)
  await waitFor(() => read.length === 2)
  await aws.idle()
  expect(read).toEqual([DATA, DATA])
})

it('from Powertools: processOnce in its batch loop runs what comes twice once, and what failed again', async () => {
  const ran: string[] = []
  let fails = true
  const record = (messageId: string, id: string) =>
    ({ messageId, body: JSON.stringify({ id, data: DATA }) }) as SQSRecord
  const handleRecord = async ({ body }: SQSRecord): Promise<void> => {
    const { id } = JSON.parse(body) as { id: string }
    const once = {
      consumer: 'stock',
      handler: 'reserve',
      eventId: id,
      clock: aws.clock,
      backoff: { firstSeconds: 0 },
      logger: silent,
    }
    const outcome = await processOnce(ledger, once, () => {
      if (id === 'b' && fails) throw new Error('no stock yet')
      ran.push(id)
    })
    if (!['handled', 'duplicate', 'dead'].includes(outcome.status)) throw new Error(`not yet: ${outcome.status}`)
  }
  const deliver = (...Records: SQSRecord[]) =>
    processPartialResponse({ Records } as SQSEvent, handleRecord, new BatchProcessor(EventType.SQS), {
      context: {} as Context,
    })
  expect(await deliver(record('m1', 'a'), record('m2', 'b'), record('m3', 'c'))).toEqual({
    batchItemFailures: [{ itemIdentifier: 'm2' }],
  })
  fails = false
  expect(await deliver(record('m2', 'b'), record('m4', 'a'))).toEqual({ batchItemFailures: [] })
  expect(ran.toSorted()).toEqual(['a', 'b', 'c'])
})

it('from an outbox table of your own: its rows are relayed, and by their `due` swept when the stream loses them', async () => {
  const handled: unknown[] = []
  const lost = 'mine#lost'
  const isLost = (record: object) => JSON.stringify(record).includes(lost)
  await aws.startRelay({
    queue,
    logger: silent,
    mapping: { faults: (records) => records.filter((record) => !isLost(record)) },
  })
  aws.startConsumer({
    queue,
    name: 'stock',
    logger: silent,
    handlers: [on('order.placed', 'reserve', ({ id }) => handled.push(id))],
  })
  const put = (pk: string, due: number) =>
    aws.dynamo.send(
      new PutItemCommand({
        TableName: aws.outboxTable,
        Item: {
          pk: { S: pk },
          sk: { S: '1' },
          shard: { S: 'p#07' },
          region: { S: LOCAL_REGION },
          id: { S: pk },
          due: { N: String(due) },
          body: {
            S: JSON.stringify({ specversion: '1.0', id: pk, source: '/old', type: 'order.placed', data: DATA }),
          },
        },
      }),
    )
  await put('mine#1', aws.clock.now() + GRACE_MS)
  await waitFor(() => handled.length === 1)
  await put(lost, aws.clock.now() - 1)
  await aws.startSweeper({ queue, logger: silent }).run()
  await waitFor(() => handled.length === 2)
  await aws.idle()
  expect(handled).toEqual(['mine#1', lost])
})

it('from Pipes: a record of the pipe and the event of the outbox are handled once, under an id of your own', async () => {
  const effects: string[] = []
  const statuses: string[] = []
  const consumer = async ({ Records }: { readonly Records: readonly { readonly body: string }[] }) => {
    for (const record of Records) {
      const body = JSON.parse(record.body)
      const orderId: string = body.specversion === '1.0' ? body.data.orderId : body.dynamodb.NewImage.orderId.S
      const once = { consumer: 'stock', handler: 'reserve', eventId: `order/${orderId}/placed`, clock: aws.clock }
      const { status } = await processOnce(ledger, once, () => void effects.push(orderId))
      statuses.push(status)
    }
    return { batchItemFailures: [] }
  }
  await aws.startRelay({ queue, logger: silent })
  aws.startConsumer({ queue, consumer })
  await sendDirectly({ eventName: 'INSERT', dynamodb: { NewImage: { orderId: { S: 'o-1' } } } })
  await waitFor(() => statuses.length === 1)
  await write(placed)
  await waitFor(() => statuses.length === 2)
  await aws.idle()
  expect([effects, statuses]).toEqual([['o-1'], ['handled', 'duplicate']])
})
