import { GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { type ConsumerOptions, createConsumer } from '../../src/consumer/consumer.ts'
import type { ConsumerQueue } from '../../src/consumer/consumer-queue.ts'
import { on } from '../../src/consumer/handler.ts'
import type { HandlerContext } from '../../src/consumer/handler-context.ts'
import { isOutboxError } from '../../src/errors.ts'
import { eventId } from '../../src/event/identity.ts'
import { createLedger } from '../../src/ledger/dynamo-ledger.ts'
import { createOutbox, type Outbox } from '../../src/outbox/create-outbox.ts'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import { sqsRecord } from '../../src/testing/records.ts'
import { proves } from '../cases.ts'
import { bodyOf, identityOf, type TestEvent } from '../support/consumer-kit.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { addFaults, type Faults, networkError, transactionCanceled } from '../support/faults.ts'

let dynamo: TestDynamo
let faults: Faults
let documents: DynamoDBDocumentClient
let outbox: Outbox
let outboxTable: string
let ledgerTable: string
let events = 0

beforeAll(async () => {
  dynamo = await startDynamo()
  outboxTable = dynamo.tableName('outbox')
  ledgerTable = dynamo.tableName('ledger')
  await createTables({ client: dynamo.client, outboxTable, ledgerTable })
  const client = dynamo.newClient()
  faults = addFaults(client)
  documents = DynamoDBDocumentClient.from(client)
  outbox = createOutbox({ documentClient: documents, tableName: outboxTable })
})
afterAll(() => dynamo.stop())

const quiet = { info: () => {}, warn: () => {}, error: () => {} }
/** What is proven here is between consumer and tables: the queue takes everything. */
const queue: ConsumerQueue = {
  setVisibility: async (_, entries) => entries.map(() => 'changed'),
  deadLetter: async () => ({ status: 'sent' }),
}
const context = { getRemainingTimeInMillis: () => 30_000 }
const newEvent = (): TestEvent => ({ n: ++events, life: 1000 })
const recordOf = (event: TestEvent, n = 0) =>
  sqsRecord({ body: bodyOf(event), groupId: `g${event.n}`, messageId: `message-${event.n}-${n}` })

function consumerOf(handle: (context: HandlerContext) => unknown, more: Partial<ConsumerOptions> = {}) {
  const ledger = createLedger({ documentClient: documents, tableName: ledgerTable })
  const handlers = [on('order.placed', 'reserve', (_, ctx) => handle(ctx), { backoff: { firstSeconds: 0 } })]
  const options = { name: 'shop', ledger, queue, handlers, logger: quiet, outbox, ...more }
  return createConsumer(options)
}
const rowOf = async (event: TestEvent) => {
  const Key = { pk: eventId(identityOf(event)), sk: 'shop/reserve' }
  return (await documents.send(new GetCommand({ TableName: ledgerTable, Key, ConsistentRead: true }))).Item
}
const effectOf = async (pk: string) => {
  const { Item } = await dynamo.client.send(
    new GetItemCommand({ TableName: ledgerTable, Key: { pk: { S: pk }, sk: { S: '-' } } }),
  )
  return Item?.runs?.N
}
/** Not idempotent on purpose: twice applied it shows. */
const count = (pk: string) => ({
  Update: {
    TableName: ledgerTable,
    Key: { pk, sk: '-' },
    UpdateExpression: 'ADD runs :one',
    ExpressionAttributeValues: { ':one': 1 },
  },
})
const outboxRows = async (key: string) => {
  const { Items = [] } = await dynamo.client.send(new ScanCommand({ TableName: outboxTable }))
  return Items.filter(({ pk }) => pk?.S === `K#test/${key}`)
}

describe('ctx.commit on an engine', () => {
  it('makes effect, follow-up events and done one transaction', proves('commit-is-one'), async () => {
    const event = newEvent()
    const followUp = { source: 'test', type: 'stock.reserved', key: `stock-${event.n}`, data: { n: event.n } }
    const consumer = consumerOf(({ commit }) => commit([count(`effect-${event.n}`)], { events: [followUp] }))
    for (let delivery = 0; delivery < 3; delivery++) {
      expect(await consumer({ Records: [recordOf(event)] }, context)).toEqual({ batchItemFailures: [] })
    }
    expect(await effectOf(`effect-${event.n}`)).toBe('1')
    expect(await outboxRows(`stock-${event.n}`)).toHaveLength(1)
    expect(await rowOf(event)).toMatchObject({ status: 'done' })
  })

  it('writes nothing for a worker that was overtaken', proves('late-worker', 'commit-is-one'), async () => {
    const event = newEvent()
    const errors: unknown[] = []
    const consumer = consumerOf(async ({ commit }) => {
      const row = await rowOf(event)
      await documents.send(
        new PutCommand({ TableName: ledgerTable, Item: { ...row, token: 'another', status: 'alone' } }),
      )
      await commit([count(`effect-${event.n}`)]).catch((error) => errors.push(error))
    })
    expect(await consumer({ Records: [recordOf(event)] }, context)).toMatchObject({ batchItemFailures: [{}] })
    expect(errors).toMatchObject([{ code: 'CLAIM_LOST' }])
    expect(await effectOf(`effect-${event.n}`)).toBeUndefined()
    expect(await rowOf(event)).toMatchObject({ token: 'another', status: 'alone', attempts: 0 })
  })

  it('is not cancelled by a follow-up event that exists', proves('follow-up-exists'), async () => {
    const [first, second] = [newEvent(), newEvent()]
    const followUp = { source: 'test', type: 'stock.low', key: `low-${first.n}`, data: { sku: 'a' } }
    const consumer = consumerOf(({ commit, idempotencyKey }) => commit([count(idempotencyKey)], { events: [followUp] }))
    expect(await consumer({ Records: [first, second].map((event) => recordOf(event)) }, context)).toEqual({
      batchItemFailures: [],
    })
    expect(await rowOf(first)).toMatchObject({ status: 'done' })
    expect(await rowOf(second)).toMatchObject({ status: 'done' })
    expect(await outboxRows(`low-${first.n}`)).toHaveLength(1)
  })

  it(
    'that landed, its answer lost, is done, though the handler throws',
    proves('commit-landed-handler-throws'),
    async () => {
      for (const send of [outbox, undefined]) {
        const event = newEvent()
        let runs = 0
        const handle = async ({ commit }: HandlerContext) => {
          runs += 1
          faults.next('TransactWriteCommand', { after: networkError() })
          faults.next('TransactWriteItemsCommand', { after: networkError() })
          await commit([count(`effect-${event.n}`)])
          throw new Error('after all')
        }
        const consumer = send === undefined ? consumerWithoutOutbox(handle) : consumerOf(handle)
        expect(await consumer({ Records: [recordOf(event)] }, context)).toEqual({ batchItemFailures: [] })
        faults.reset()
        expect([runs, await effectOf(`effect-${event.n}`), (await rowOf(event))?.status]).toEqual([1, '1', 'done'])
      }
    },
  )

  it('is tried again after a conflict, within the lease', async () => {
    const event = newEvent()
    const consumer = consumerOf(({ commit }) => {
      const conflict = { before: transactionCanceled('TransactionConflict', 'None') }
      faults.next('TransactWriteCommand', conflict, conflict)
      return commit([count(`effect-${event.n}`)])
    })
    expect(await consumer({ Records: [recordOf(event)] }, context)).toEqual({ batchItemFailures: [] })
    expect(await effectOf(`effect-${event.n}`)).toBe('1')
  })

  it("hands the caller's own failed condition over, with the old item, and lets the handler commit again", async () => {
    const event = newEvent()
    const stock = `stock-item-${event.n}`
    await documents.send(new PutCommand({ TableName: ledgerTable, Item: { pk: stock, sk: '-', left: 0 } }))
    const take = {
      Update: {
        TableName: ledgerTable,
        Key: { pk: stock, sk: '-' },
        UpdateExpression: 'SET #left = #left - :one',
        ConditionExpression: '#left >= :one',
        ExpressionAttributeNames: { '#left': 'left' },
        ExpressionAttributeValues: { ':one': 1 },
        ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
      },
    }
    const consumer = consumerOf(async ({ commit }) => {
      try {
        await commit([take])
      } catch (error) {
        if (!isOutboxError(error, 'CONDITION_FAILED')) throw error
        expect(error.details).toMatchObject({ index: 0, item: { left: 0 } })
        await commit([count(`effect-${event.n}`)])
      }
    })
    expect(await consumer({ Records: [recordOf(event)] }, context)).toEqual({ batchItemFailures: [] })
    expect(await effectOf(`effect-${event.n}`)).toBe('1')
  })
})

describe('requests to the ledger', () => {
  const ledgerCalls = () =>
    faults.calls.filter((name) => name === 'BatchExecuteStatementCommand' || name === 'BatchGetItemCommand')

  it('are at most four for ten groups whose handlers end together, and 0.2 a message for duplicates', async () => {
    const batch = Array.from({ length: 10 }, () => recordOf(newEvent()))
    const ended = Promise.withResolvers<void>()
    let running = 0
    const consumer = consumerOf(() => {
      running += 1
      if (running === 10) ended.resolve()
      return ended.promise
    })
    faults.reset()
    expect(await consumer({ Records: batch }, context)).toEqual({ batchItemFailures: [] })
    expect(ledgerCalls()).toHaveLength(2)
    faults.reset()
    expect(await consumer({ Records: batch }, context)).toEqual({ batchItemFailures: [] })
    expect(ledgerCalls()).toEqual(['BatchExecuteStatementCommand', 'BatchGetItemCommand'])
    expect(running).toBe(10)
  })
})

function consumerWithoutOutbox(handle: (context: HandlerContext) => unknown) {
  const ledger = createLedger({ documentClient: documents, tableName: ledgerTable, clock: systemClock })
  const handlers = [on('order.placed', 'reserve', (_, ctx) => handle(ctx))]
  return createConsumer({ name: 'shop', ledger, queue, handlers, logger: quiet })
}
