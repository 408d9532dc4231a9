import { ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb'
import { describe, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { proves } from '../cases.ts'

const silent = { info: () => {}, warn: () => {}, error: () => {} }
const event = (key: string) => ({ source: 'shop', type: 'order.placed', key, data: { key } })
const ordered = (group: string) =>
  ({ source: 'shop', type: 'order.placed', group, sequence: 'auto', data: { group } }) as const

describe('the parts of the package on a local AWS', () => {
  it('carry an event from the transaction to its handler', async () => {
    await using aws = await startLocalAws({ speed: 10 })
    const queue = await aws.createQueue('orders', { deadLetter: true })
    const handled: unknown[] = []
    const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: aws.clock })
    await aws.startRelay({ queue })
    const note = on('order.placed', 'note', ({ data }) => handled.push(data))
    aws.startConsumer({ queue, name: 'shop', handlers: [note] })
    await outbox.transact({ events: [event('order-1')] })
    await aws.idle()
    expect(handled).toEqual([{ key: 'order-1' }])
  })

  it('let handlers commit native values where they are given a document client', async () => {
    await using aws = await startLocalAws()
    const documentClient = DynamoDBDocumentClient.from(aws.dynamo)
    const queue = await aws.createQueue('orders', { deadLetter: true })
    const outbox = createOutbox({ documentClient, tableName: aws.outboxTable, clock: aws.clock })
    await aws.startRelay({ queue })
    // Any table will do for an effect: the ledger's is there.
    const effect = { TableName: aws.ledgerTable, Item: { pk: 'effect', sk: '-', total: 42 } }
    const store = on('order.placed', 'store', (_, ctx) => ctx.commit([{ Put: effect }]))
    aws.startConsumer({ queue, name: 'shop', handlers: [store], documentClient })
    await outbox.transact({ events: [event('order-1')] })
    await aws.idle()
    const stored = await documentClient.send(
      new GetCommand({ TableName: aws.ledgerTable, Key: { pk: 'effect', sk: '-' } }),
    )
    expect(stored.Item).toEqual(effect.Item)
  })

  it('take a handler through its whole retry schedule into the dead-letter queue', async () => {
    await using aws = await startLocalAws({ speed: 60 })
    const queue = await aws.createQueue('orders', { deadLetter: true })
    const times: number[] = []
    const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: aws.clock })
    await aws.startRelay({ queue, logger: silent })
    const fail = on(
      'order.placed',
      'fail',
      () => {
        times.push(aws.clock.now())
        throw new Error('not today')
      },
      { maxAttempts: 4 },
    )
    aws.startConsumer({ queue, name: 'shop', handlers: [fail], logger: silent })
    await outbox.transact({ events: [event('order-1')] })
    await aws.idle({ timeoutMs: 15_000 })
    const waits = times.slice(1).map((time, n) => (time - (times[n] ?? 0)) / 1000)
    expect(waits).toHaveLength(3)
    expect(waits.every((wait, n) => wait >= 5 * 2 ** n)).toBe(true)
    const { Messages = [] } = await aws.sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queue.deadLetterUrl, WaitTimeSeconds: 1 }),
    )
    expect(Messages).toHaveLength(1)
  })

  it(
    'deliver every event in order though the stream loses, doubles and shuffles its records',
    proves('records-dropped-or-doubled'),
    async () => {
      await using aws = await startLocalAws({ speed: 30 })
      const queue = await aws.createQueue('orders', { deadLetter: true })
      const handled: string[] = []
      const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: aws.clock })
      let read = 0
      await aws.startRelay({
        queue,
        logger: silent,
        mapping: {
          faults: (records) => {
            const kept = records.filter(() => ++read % 3 !== 0)
            return [...kept, ...kept].reverse()
          },
        },
      })
      aws.startSweeper({ queue, logger: silent })
      const note = on('order.placed', 'note', ({ group = '', sequence = 0 }) => handled.push(`${group} ${sequence}`))
      aws.startConsumer({ queue, name: 'shop', handlers: [note], logger: silent })
      const expected: string[] = []
      for (let n = 0; n < 30; n += 1) {
        const group = `g${n % 3}`
        const { events } = await outbox.transact({ events: [ordered(group)] })
        expected.push(`${group} ${events[0]?.sequence}`)
      }
      await waitFor(() => handled.length >= 30, { timeoutMs: 15_000 })
      await aws.idle()
      const ofGroup = (list: readonly string[], group: string): string[] =>
        list.filter((text) => text.startsWith(group))
      for (const group of ['g0', 'g1', 'g2']) expect(ofGroup(handled, group)).toEqual(ofGroup(expected, group))
    },
  )

  it('keep events through an outage of SQS and deliver them after it', async () => {
    await using aws = await startLocalAws({ speed: 30 })
    const queue = await aws.createQueue('orders', { deadLetter: true })
    const handled: unknown[] = []
    const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: aws.clock })
    const relay = await aws.startRelay({ queue, logger: silent, mapping: { maxRetries: 2 } })
    const sweeper = aws.startSweeper({ queue, everyMs: 20_000, logger: silent })
    const note = on('order.placed', 'note', ({ data }) => handled.push(data))
    aws.startConsumer({ queue, name: 'shop', handlers: [note], logger: silent })
    aws.setSqsOutage(true)
    await outbox.transact({ events: [event('order-1')] })
    await waitFor(() => relay.function.counts().ok >= 1 && relay.pending().length === 0)
    const { ok } = sweeper.function.counts()
    await waitFor(() => sweeper.function.counts().ok > ok + 6)
    expect(handled).toEqual([])
    aws.setSqsOutage(false)
    await waitFor(() => handled.length > 0)
    await aws.idle()
    expect(handled).toEqual([{ key: 'order-1' }])
    expect(aws.queue(queue.deadLetterUrl ?? '').depth().visible).toBe(0)
  })

  it('say what is missing', async () => {
    await using aws = await startLocalAws()
    const queue = await aws.createQueue('orders')
    const handlers = [on('order.placed', 'note', () => {})]
    expect(() => aws.startConsumer({ queue, name: 'shop', handlers })).toThrow(
      'queue must be created with deadLetter: true',
    )
    expect(() => aws.startSweeper({})).toThrow('queue, routes must be given')
  })
})
