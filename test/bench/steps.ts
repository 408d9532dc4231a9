import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { createConsumer } from '../../src/consumer/consumer.ts'
import { type HandleFunction, on } from '../../src/consumer/handler.ts'
import { createSqsQueue } from '../../src/consumer/sqs-queue.ts'
import type { NewEvent } from '../../src/event/event.ts'
import { createLedger } from '../../src/ledger/dynamo-ledger.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { createRelay } from '../../src/relay/relay.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import { createSweeper } from '../../src/relay/sweeper.ts'
import type { StreamImage } from '../../src/testing/lambda-events.ts'
import { sqsRecord, streamRecord } from '../../src/testing/records.ts'
import { createClients } from './clients.ts'
import { TYPE } from './event-rows.ts'
import type { Item } from './filled-engine.ts'
import { meterDynamo, type Usage } from './meter.ts'
import type { Stub } from './stub.ts'

/** What one step consumed, and how many requests SQS got from us. */
export type Step = Usage & { readonly sqsRequests: number }

/** Records of one invocation of a relay (its mapping gives up to 1,000), and messages of one of a consumer. */
const RELAY_BATCH = 100
const CONSUMER_BATCH = 10

const silent = { info: () => {}, warn: () => {}, error: () => {} }
const context = { getRemainingTimeInMillis: () => 60_000 }

export type Steps = ReturnType<typeof openSteps>
export type StepTables = { readonly outbox: string; readonly ledger: string }

/** The functions of the package on an engine and the stub's queue, each step measured on its own. */
export function openSteps(endpoint: string, stub: Stub, tables: StepTables) {
  // Without the short timeouts of the deployed functions: an engine on a busy machine may need longer.
  const { dynamo, sqs } = createClients('peer', { dynamo: endpoint, sqs: stub.endpoint })
  const meter = meterDynamo(dynamo)
  const routes = [{ to: createSqsPublisher({ client: sqs, queueUrl: stub.queueUrl }) }]
  const relaying = { client: dynamo, tableName: tables.outbox, routes, logger: silent }
  const outbox = createOutbox({ client: dynamo, tableName: tables.outbox })
  const relay = createRelay(relaying)
  const sweeper = createSweeper(relaying)
  const consumer = (name: string, handle: HandleFunction<unknown>) =>
    createConsumer({
      name,
      ledger: createLedger({ client: dynamo, tableName: tables.ledger }),
      queue: createSqsQueue({
        client: sqs,
        queueUrl: stub.queueUrl,
        deadLetterQueueUrl: `${stub.endpoint}/000000000000/dead.fifo`,
      }),
      handlers: [on(TYPE, 'handle', handle)],
      logger: silent,
    })

  const measured = async (work: () => Promise<void>): Promise<Step> => {
    meter.reset()
    await stub.counts()
    await work()
    const { requests } = await stub.counts()
    return { ...meter.read(), sqsRequests: Object.values(requests).reduce((sum, count) => sum + count, 0) }
  }

  return {
    /** One transaction for each event, with nothing else in it. */
    enqueue: (events: readonly NewEvent[]) =>
      measured(async () => {
        for (const event of events) await outbox.transact({ events: [event] })
      }),
    relay: (rows: readonly Item[]) =>
      measured(async () => {
        for (const batch of chunks(rows, RELAY_BATCH)) {
          const { batchItemFailures } = await relay({ Records: batch.map(recordOf) }, context)
          if (batchItemFailures.length > 0) throw new Error('the relay reported records')
        }
      }),
    sweep: (expected: number) =>
      measured(async () => {
        const { relayed } = await sweeper(undefined, context)
        if (relayed !== expected) throw new Error(`${relayed} of ${expected} rows were swept`)
      }),
    consume: async (rows: readonly Item[], name: string, handle: HandleFunction<unknown>) => {
      const handler = consumer(name, handle)
      return measured(async () => {
        for (const batch of chunks(rows, CONSUMER_BATCH)) {
          const { batchItemFailures } = await handler({ Records: batch.map(messageOf) }, context)
          if (batchItemFailures.length > 0) throw new Error('the consumer kept messages')
        }
      })
    },
    close: () => {
      dynamo.destroy()
      sqs.destroy()
    },
  }
}

export function chunks<Element>(elements: readonly Element[], size: number): Element[][] {
  return Array.from({ length: Math.ceil(elements.length / size) }, (_, n) => elements.slice(n * size, (n + 1) * size))
}

/** All rows of a table. */
export async function scanRows(client: DynamoDBClient, tableName: string): Promise<Item[]> {
  const rows: Item[] = []
  let ExclusiveStartKey: Item | undefined
  do {
    const from = ExclusiveStartKey === undefined ? {} : { ExclusiveStartKey: { ...ExclusiveStartKey } }
    const page = await client.send(new ScanCommand({ TableName: tableName, ConsistentRead: true, ...from }))
    rows.push(...(page.Items ?? []))
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey !== undefined)
  return rows
}

function recordOf(row: Item, index: number) {
  const createdAt = Number(row['created']?.N)
  return streamRecord({ newImage: row as StreamImage, sequence: index + 1, createdAt })
}

/** Every message in a group of its own, as unordered events have. */
function messageOf(row: Item, index: number) {
  const { S: body = '' } = row['body'] ?? {}
  return sqsRecord({ body, groupId: `group-${index}`, sequence: index + 1 })
}
