import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import { permanentError } from '../../src/errors.ts'
import type { Event } from '../../src/event/event.ts'
import { eventId } from '../../src/event/identity.ts'
import { GRACE_MS } from '../../src/outbox/row.ts'
import { processFunction } from '../../src/testing/process-function.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { proves } from '../cases.ts'
import { type Pipeline, silent, startPipeline } from '../support/pipeline.ts'

const SOURCES = ['flow', 'lost', 'two', 'late', 'poison', 'killed', 'follow'] as const
const beside = (name: string) => (url: string) => url.replace(/[^/]+$/, `${name}.fifo`)

let pipeline: Pipeline
beforeAll(async () => {
  const also = { two: beside('other-team'), late: beside('not-yet') }
  pipeline = await startPipeline({ speed: 40, sources: SOURCES, also })
})
afterAll(() => pipeline.aws.stop())

const order = (source: string, key: string) => ({ source, type: 'order.placed', key, data: { key } })
const step = (source: string, group: string, sequence: number) => ({
  source,
  type: 'step',
  group,
  sequence,
  data: { sequence },
})

describe('from the transaction to the effect', () => {
  it('an event arrives as it was written, once, and leaves a relayed row and a ledger entry', async () => {
    const { aws, queue, write, row, entry, outbox } = pipeline
    const handled: Event[] = []
    const note = on('order.placed', 'note', (event) => handled.push(event))
    const consumer = aws.startConsumer({ queue: queue('flow'), name: 'shop', handlers: [note] })
    const event = { ...order('flow', 'order/1'), headers: { tenant: 'blue' }, time: '2026-01-31T12:00:00.000Z' }
    await write(event)
    await waitFor(() => handled.length > 0)
    expect(handled).toMatchObject([{ ...event, id: eventId({ source: 'flow', key: 'order/1' }) }])
    const relayed = await waitFor(async () => {
      const stored = await row(event)
      return stored?.['shard'] === undefined && stored
    })
    expect(relayed['expires']).toBeGreaterThan(aws.clock.now() / 1000)
    await waitFor(async () => (await entry(event, 'shop/note'))?.['status'] === 'done')
    // The same event once more is a duplicate: nothing is written, nothing arrives.
    expect(await outbox.transact({ events: [event] })).toMatchObject({ duplicate: true })
    expect(handled).toHaveLength(1)
    await consumer.stop()
  })

  it('events of a group arrive in order, follow-up events of a handler included', async () => {
    const { aws, queue, write } = pipeline
    const seen: string[] = []
    const consumer = aws.startConsumer({
      queue: queue('follow'),
      name: 'shop',
      logger: silent,
      handlers: [
        on<{ sequence: number }, 'step'>('step', 'answer', ({ data }, ctx) =>
          ctx.commit([], { events: [{ source: 'follow', type: 'answer', group: 'a', sequence: 'auto', data }] }),
        ),
        on<{ sequence: number }, 'answer'>('answer', 'note', ({ data, group }) =>
          seen.push(`${group} ${data.sequence}`),
        ),
      ],
    })
    await write(step('follow', 'g', 1), step('follow', 'g', 2), step('follow', 'g', 3))
    await write(step('follow', 'g', 4))
    await waitFor(() => seen.length >= 4, { timeoutMs: 15_000 })
    expect(seen).toEqual(['a 1', 'a 2', 'a 3', 'a 4'])
    await consumer.stop()
  })

  it('each of two destinations gets an event once', async () => {
    const { aws, queue, write } = pipeline
    const other = await aws.createQueue('other-team', { deadLetter: true })
    const handled: string[] = []
    const consumers = [queue('two'), other].map((one) =>
      aws.startConsumer({
        queue: one,
        // Of the same handler name: the consumer's name keeps them apart.
        name: one.name.replace('.fifo', ''),
        handlers: [on('order.placed', 'note', ({ key }) => handled.push(`${one.name} ${key}`))],
      }),
    )
    await write(order('two', 'a'), order('two', 'b'))
    await waitFor(() => handled.length >= 4)
    expect(handled.toSorted()).toEqual(['other-team.fifo a', 'other-team.fifo b', 'two.fifo a', 'two.fifo b'])
    await Promise.all(consumers.map((consumer) => consumer.stop()))
  })
})

describe('what goes wrong on the way', () => {
  it('a lost stream record: the sweeper delivers, after the grace', proves('records-dropped-or-doubled'), async () => {
    const { aws, queue, write, lost } = pipeline
    const times: number[] = []
    lost.add('lost')
    const consumer = aws.startConsumer({
      queue: queue('lost'),
      name: 'shop',
      handlers: [on('order.placed', 'note', () => times.push(aws.clock.now()))],
    })
    const began = aws.clock.now()
    await write(order('lost', 'a'))
    await waitFor(() => times.length > 0, { timeoutMs: 15_000 })
    expect((times[0] ?? 0) - began).toBeGreaterThanOrEqual(GRACE_MS)
    await consumer.stop()
  })

  it(
    'a destination that is missing: the other one gets the event once, and this one when it is there',
    proves('one-destination-down', 'outage-of-permission'),
    async () => {
      const { aws, queue, write, row } = pipeline
      const sent = () => aws.queue(queue('late').url).depth()
      const event = order('late', 'a')
      await write(event)
      const stored = await waitFor(async () => {
        const pending = await row(event)
        return pending?.['accepted'] !== undefined && pending
      })
      expect(stored).toMatchObject({ accepted: new Set(['late.fifo']), shard: expect.stringMatching(/^p#/) })
      const late = await aws.createQueue('not-yet', { deadLetter: true })
      await waitFor(() => aws.queue(late.url).depth().visible === 1, { timeoutMs: 15_000 })
      await waitFor(async () => (await row(event))?.['shard'] === undefined)
      expect(await row(event)).not.toHaveProperty('redrives')
      expect(sent()).toEqual({ visible: 1, invisible: 0, delayed: 0 })
      aws.queue(queue('late').url).purge()
    },
  )

  it('a permanent error: one run, one dead letter, and its group goes on', proves('permanent-error'), async () => {
    const { aws, queue, write, entry, deadLetters } = pipeline
    const runs: number[] = []
    const consumer = aws.startConsumer({
      queue: queue('poison'),
      name: 'shop',
      logger: silent,
      handlers: [
        on<{ sequence: number }, 'step'>('step', 'note', ({ data }) => {
          runs.push(data.sequence)
          if (data.sequence === 2) throw permanentError('this order is impossible')
        }),
      ],
    })
    await write(step('poison', 'g', 1), step('poison', 'g', 2), step('poison', 'g', 3))
    await waitFor(() => runs.length >= 3)
    expect(runs).toEqual([1, 2, 3])
    await waitFor(() => deadLetters('poison') === 1)
    const dead = { source: 'poison', group: 'g', sequence: 2 }
    await waitFor(async () => (await entry(dead, 'shop/note'))?.['status'] === 'dead')
    expect(await entry(dead, 'shop/note')).toMatchObject({ failure: 'this order is impossible' })
    await consumer.stop()
    expect(runs).toHaveLength(3)
  })

  it(
    'a consumer process killed in mid-handler: handled once within seconds, and no attempt is spent',
    proves('timeout-mid-handler', 'commit-is-one'),
    async () => {
      const { aws, queue, write, entry, deadLetters } = pipeline
      const { url, deadLetterUrl } = queue('killed')
      const code = processFunction({
        module: new URL('./fixtures/counting-consumer.ts', import.meta.url),
        env: { QUEUE_URL: url, DEAD_LETTER_URL: deadLetterUrl },
      })
      const count = async (pk: string) => {
        const Key = { pk: { S: pk }, sk: { S: 'count' } }
        const { Item } = await aws.dynamo.send(
          new GetItemCommand({ TableName: aws.ledgerTable, Key, ConsistentRead: true }),
        )
        return Item?.count?.N
      }
      const consumer = aws.startConsumer({ queue: queue('killed'), consumer: code })
      await write(order('killed', 'a'))
      await waitFor(async () => (await count('started a')) === '1')
      expect(code.kill()).toBe(1)
      await waitFor(async () => (await entry(order('killed', 'a'), 'shop/count'))?.['status'] === 'done', {
        timeoutMs: 15_000,
      })
      expect([await count('started a'), await count('effects a'), await count('attempts a')]).toEqual(['2', '1', '1'])
      await consumer.stop()
      expect(deadLetters('killed')).toBe(0)
    },
  )
})
