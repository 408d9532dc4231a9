import { afterEach, describe, expect, it } from 'vitest'
import { createFunction, inProcess } from '../../src/testing/function.ts'
import type { LambdaHandler, SqsEvent } from '../../src/testing/lambda-events.ts'
import type { LocalQueue } from '../../src/testing/local-queue.ts'
import { createManualClock, type ManualClock } from '../../src/testing/manual-clock.ts'
import { createQueueSource, type QueueSettings, type QueueSource } from '../../src/testing/queue-source.ts'
import { scaledClock } from '../../src/testing/scaled-clock.ts'
import { acceptEntry, createQueueRegistry } from '../../src/testing/sqs-registry.ts'
import { waitFor } from '../../src/testing/wait.ts'

const VISIBILITY = 900_000

type Run = {
  readonly clock: ManualClock
  readonly source: QueueSource
  readonly queue: LocalQueue
  readonly dead: LocalQueue
  readonly batches: string[][]
  readonly send: (...bodies: string[]) => void
}

let current: Run | undefined
afterEach(async () => {
  // A handler may still be waiting for its time.
  const stopping = current?.source.stop()
  await current?.clock.advance(10 * VISIBILITY)
  await stopping
  current = undefined
})

type Options = QueueSettings & {
  readonly fifo?: boolean
  readonly maxReceiveCount?: number
  readonly concurrency?: number
}

/** The first letter of a body is its group. */
function start(options: Options, handler: LambdaHandler<SqsEvent> = () => undefined): Run {
  const { fifo = true, maxReceiveCount = 1000, concurrency = 1000, ...settings } = options
  const clock = createManualClock()
  const registry = createQueueRegistry(clock)
  const suffix = fifo ? '.fifo' : ''
  const dead = registry.create(`dead${suffix}`, 'http://sqs.invalid', {})
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount })
  const queue = registry.create(`queue${suffix}`, 'http://sqs.invalid', { VisibilityTimeout: '900', RedrivePolicy })
  const batches: string[][] = []
  const recording: LambdaHandler<SqsEvent> = (event, context) => {
    batches.push(event.Records.map(({ body }) => body))
    return handler(event, context)
  }
  const runner = inProcess(recording, clock)
  const target = createFunction({ timeoutMs: 60_000, concurrency }, { clock, runner })
  const source = createQueueSource(settings, { clock, queue, function: target, onActivity: () => {} })
  let sent = 0
  const send = (...bodies: string[]): void => {
    for (const body of bodies) {
      sent += 1
      const entry = { Id: '0', MessageBody: body, ...(fifo ? { MessageGroupId: body.slice(0, 1) } : {}) }
      acceptEntry(queue, entry, {
        messageId: `id-${body}`,
        sequenceNumber: String(sent).padStart(20, '0'),
        deduplicationId: body,
      })
    }
  }
  current = { clock, source, queue, dead, batches, send }
  return current
}

const left = ({ queue }: Run): number => {
  const { visible, invisible, delayed } = queue.depth()
  return visible + invisible + delayed
}
const failing = (...bodies: string[]): unknown => ({
  batchItemFailures: bodies.map((body) => ({ itemIdentifier: `id-${body}` })),
})

describe('a queue event source', () => {
  it('hands over several messages of a group in order and mixes groups, and deletes them', async () => {
    const run = start({})
    run.send('a1', 'b1', 'a2', 'a3')
    await run.clock.advance(0)
    expect(run.batches).toEqual([['a1', 'a2', 'a3', 'b1']])
    expect(left(run)).toBe(0)
    expect(run.source.pending()).toEqual([])
  })

  it("gives records Lambda's shape", async () => {
    const events: SqsEvent[] = []
    const run = start({}, (event) => {
      events.push(event)
    })
    run.send('a1')
    await run.clock.advance(0)
    const [record] = events.flatMap(({ Records }) => Records)
    const now = String(run.clock.now())
    expect(record).toMatchObject({
      messageId: 'id-a1',
      body: 'a1',
      eventSource: 'aws:sqs',
      eventSourceARN: 'arn:aws:sqs:us-east-1:000000000000:queue.fifo',
      attributes: {
        MessageGroupId: 'a',
        MessageDeduplicationId: 'a1',
        SequenceNumber: '00000000000000000001',
        ApproximateReceiveCount: '1',
        SentTimestamp: now,
      },
    })
  })

  it('has no group in two batches at once', async () => {
    const run = start({ batchSize: 1 }, (_, context) => run.clock.sleep(context.getRemainingTimeInMillis() / 2))
    run.send('a1', 'a2', 'b1')
    await run.clock.advance(0)
    expect(run.batches).toEqual([['a1'], ['b1']])
    await run.clock.advance(30_000)
    expect(run.batches).toEqual([['a1'], ['b1'], ['a2']])
  })

  it('runs no more batches at once than told', async () => {
    const run = start({ batchSize: 1, maxConcurrency: 2 }, () => run.clock.sleep(1000))
    run.send('a1', 'b1', 'c1')
    await run.clock.advance(0)
    expect(run.batches).toHaveLength(2)
    await run.clock.advance(1000)
    expect(run.batches).toHaveLength(3)
  })

  it('deletes all but what a partial batch response names, which comes back at the end of its visibility', async () => {
    let calls = 0
    const run = start({ reportBatchItemFailures: true }, () => {
      calls += 1
      return calls === 1 ? failing('a2', 'a3') : undefined
    })
    run.send('a1', 'a2', 'a3', 'b1')
    await run.clock.advance(0)
    expect(left(run)).toBe(2)
    run.send('a4')
    await run.clock.advance(VISIBILITY - 1)
    expect(run.batches).toHaveLength(1)
    await run.clock.advance(1)
    expect(run.batches[1]).toEqual(['a2', 'a3', 'a4'])
    expect(left(run)).toBe(0)
  })

  it('keeps the whole batch for an identifier that is not in it', async () => {
    const run = start({ reportBatchItemFailures: true }, () => failing('a1', 'x9'))
    run.send('a1', 'a2')
    await run.clock.advance(0)
    expect(left(run)).toBe(2)
  })

  it('keeps the whole batch when the handler throws or times out', async () => {
    let calls = 0
    const run = start({}, () => {
      calls += 1
      if (calls === 1) throw new Error('bad')
      return calls === 2 ? new Promise(() => {}) : undefined
    })
    run.send('a1', 'a2')
    await run.clock.advance(VISIBILITY)
    expect(run.source.function.counts()).toMatchObject({ error: 1, timeout: 0 })
    await run.clock.advance(60_000)
    expect(run.source.function.counts()).toMatchObject({ timeout: 1 })
    await run.clock.advance(VISIBILITY)
    expect(run.batches).toEqual([
      ['a1', 'a2'],
      ['a1', 'a2'],
      ['a1', 'a2'],
    ])
    expect(left(run)).toBe(0)
  })

  it('brings a message back as soon as its changed visibility ends', async () => {
    let calls = 0
    const run = start({ reportBatchItemFailures: true }, ({ Records }) => {
      calls += 1
      if (calls > 1) return undefined
      for (const { receiptHandle } of Records) run.queue.changeVisibility(receiptHandle, 5000)
      return failing('a1')
    })
    run.send('a1')
    await run.clock.advance(4999)
    expect(run.batches).toHaveLength(1)
    await run.clock.advance(1)
    expect(run.batches).toEqual([['a1'], ['a1']])
  })

  it('cannot delete a FIFO message whose visibility ended while the handler ran', async () => {
    let calls = 0
    const run = start({}, async ({ Records }) => {
      calls += 1
      if (calls > 1) return
      for (const { receiptHandle } of Records) run.queue.changeVisibility(receiptHandle, 5000)
      await run.clock.sleep(20_000)
    })
    run.send('a1')
    await run.clock.advance(20_000)
    expect(run.batches).toEqual([['a1'], ['a1']])
    expect(left(run)).toBe(0)
  })

  it('moves a message to the dead-letter queue after its last receive, under its own id, and goes on with the group', async () => {
    const run = start({ batchSize: 1, maxReceiveCount: 2 }, ({ Records }) => {
      if (Records.some(({ body }) => body === 'a1')) throw new Error('bad')
    })
    run.send('a1', 'a2')
    await run.clock.advance(2 * VISIBILITY)
    expect(run.batches).toEqual([['a1'], ['a1'], ['a2']])
    const [dead] = run.dead.receive(10)
    expect(dead).toMatchObject({
      messageId: 'id-a1',
      groupId: 'a',
      deduplicationId: 'id-a1',
      deadLetterSource: run.queue.arn,
    })
  })

  it('keeps trying a throttled batch until its visibility ends, each receive counted', async () => {
    const run = start({ concurrency: 0, maxReceiveCount: 2 })
    run.send('a1')
    await run.clock.advance(2 * VISIBILITY)
    expect(run.batches).toEqual([])
    expect(run.source.function.counts().throttled).toBeGreaterThan(100)
    expect(run.dead.depth().visible).toBe(1)
  })

  it('runs a throttled batch as soon as there is room, received once', async () => {
    const counts: string[] = []
    const run = start({ concurrency: 0 }, ({ Records }) => {
      counts.push(...Records.map(({ attributes }) => attributes.ApproximateReceiveCount))
    })
    run.send('a1')
    await run.clock.advance(10_000)
    run.source.function.setConcurrency(1)
    await run.clock.advance(1000)
    expect(counts).toEqual(['1'])
  })

  it('deletes what the filter does not match without running anything', async () => {
    const run = start({ filter: { body: { type: ['wanted'] } } })
    run.send('{"type":"other"}', '{"type":"wanted"}')
    await run.clock.advance(0)
    expect(run.batches).toEqual([['{"type":"wanted"}']])
    expect(left(run)).toBe(0)
  })

  it('lets the messages of a standard queue go their own ways, and gathers them for its window', async () => {
    const run = start({ fifo: false, windowMs: 2000, reportBatchItemFailures: true }, () => failing('a1'))
    run.send('a1')
    await run.clock.advance(1000)
    run.send('a2')
    await run.clock.advance(1000)
    expect(run.batches).toEqual([['a1', 'a2']])
    expect(left(run)).toBe(1)
  })

  it('says what is left to do', async () => {
    const run = start({}, () => {
      throw new Error('bad')
    })
    run.send('a1', 'a2')
    await run.clock.advance(0)
    expect(run.source.pending()).toEqual(['2 messages in queue.fifo (2 of them hidden)'])
  })

  it('misses no message that shows while it looks', async () => {
    // Time runs by 2,000 ms between two looks of the machine's clock: the moment of showing falls between any two lines.
    const clock = scaledClock({ speed: 2000, origin: Date.now() })
    const queue = createQueueRegistry(clock).create('queue.fifo', 'http://sqs.invalid', { VisibilityTimeout: '43200' })
    let calls = 0
    const handler: LambdaHandler<SqsEvent> = ({ Records }) => {
      calls += 1
      if (calls === 100) return
      for (const { receiptHandle } of Records) queue.changeVisibility(receiptHandle, 1000)
      throw new Error('again')
    }
    const target = createFunction({ timeoutMs: 900_000 }, { clock, runner: inProcess(handler, clock) })
    const source = createQueueSource({}, { clock, queue, function: target, onActivity: () => {} })
    acceptEntry(queue, { Id: '0', MessageBody: 'x', MessageGroupId: 'g' }, { messageId: 'x', sequenceNumber: '1' })
    await waitFor(() => calls >= 100)
    await source.stop()
    expect(calls).toBe(100)
  })
})
