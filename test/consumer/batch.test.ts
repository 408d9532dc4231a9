import { describe, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import type { HandlerContext } from '../../src/consumer/handler-context.ts'
import { permanentError } from '../../src/errors.ts'
import type { Event } from '../../src/event/event.ts'
import { proves } from '../cases.ts'
import { createConsumerKit, FUNCTION_MS, HELD_MS, LEASE_MS, START } from '../support/consumer-kit.ts'

const never = new Promise<never>(() => {})
const numberOf = (event: Event): number => (event.data as { n: number }).n

/** A handler that does what is told for an event's number, and notes what it was called with. */
function recorder(act: (n: number, context: HandlerContext) => unknown = () => undefined) {
  const runs: number[] = []
  const attempts: number[] = []
  let running = 0
  let most = 0
  const handle = async (event: Event, context: HandlerContext) => {
    runs.push(numberOf(event))
    attempts.push(context.attempt)
    running += 1
    most = Math.max(most, running)
    try {
      await act(numberOf(event), context)
    } finally {
      running -= 1
    }
  }
  return { runs, attempts, most: () => most, handler: on('order.placed', 'reserve', handle) }
}
const group = (name: string, count: number, from = 1) =>
  Array.from({ length: count }, (_, n) => ({ group: name, n: from + n }))

describe('a batch', () => {
  it('of ten messages of one group is handled in order, one at a time', async () => {
    const { runs, most, handler } = recorder()
    const kit = createConsumerKit({ handlers: [handler] })
    await kit.send(...group('a', 10))
    expect(await kit.invoke()).toMatchObject({ received: 10, kept: 0 })
    expect(runs).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(most()).toBe(1)
    expect(kit.left()).toBe(0)
  })

  it('of ten groups is handled at once, with one change of visibility and no other request to the queue', async () => {
    const { most, handler } = recorder(() => new Promise((resolve) => setImmediate(resolve)))
    const kit = createConsumerKit({ handlers: [handler] })
    await kit.send(...Array.from({ length: 10 }, (_, n) => ({ group: `g${n}`, n })))
    const sent = kit.sqs.requests.length
    expect(await kit.invoke()).toMatchObject({ received: 10, kept: 0 })
    expect(most()).toBe(10)
    expect(kit.sqs.requests.slice(sent)).toEqual([{ action: 'ChangeMessageVisibilityBatch', entries: 10 }])
  })

  it(
    'keeps the rest of a group after a failure, and finishes the other groups',
    proves('one-failure-in-batch'),
    async () => {
      let broken = true
      const { runs, handler } = recorder((n) => {
        if (n === 2 && broken) throw new Error('broken')
      })
      const kit = createConsumerKit({ handlers: [handler] })
      await kit.send(...group('a', 4), ...group('b', 2, 11))
      const { keptIds, records } = await kit.invoke()
      expect(runs.toSorted((a, b) => a - b)).toEqual([1, 2, 11, 12])
      expect(keptIds).toEqual(records.slice(1, 4).map(({ messageId }) => messageId))
      // All of the group comes back together, when the failed one is due.
      await kit.clock.advance(4999)
      expect((await kit.invoke()).received).toBe(0)
      broken = false
      await kit.clock.advance(1)
      expect(await kit.invoke()).toMatchObject({ received: 3, kept: 0 })
      expect(runs.slice(-3)).toEqual([2, 3, 4])
      expect(kit.counts.get('failed')).toBe(1)
    },
  )

  it('of a standard queue stops only the message that failed', async () => {
    const { runs, handler } = recorder((n) => {
      if (n === 1) throw new Error('broken')
    })
    const kit = createConsumerKit({ handlers: [handler], sqs: { queueName: 'queue' } })
    await kit.send({ n: 1 }, { n: 2 }, { n: 3 })
    expect(await kit.invoke()).toMatchObject({ received: 3, kept: 1 })
    expect(runs.toSorted()).toEqual([1, 2, 3])
  })

  it('runs two copies of one event once', async () => {
    for (const queueName of ['queue', 'queue.fifo']) {
      const { runs, handler } = recorder()
      const kit = createConsumerKit({ handlers: [handler], sqs: { queueName } })
      await kit.send({ n: 1 }, { n: 1 })
      expect(await kit.invoke()).toMatchObject({ received: 2, kept: 0 })
      expect(runs).toEqual([1])
      expect(kit.counts.get('duplicatesSuppressed')).toBe(1)
    }
  })

  it('gives back unspent what it has no time to begin', async () => {
    const { runs, attempts, handler } = recorder(() => kit.clock.advance(8000))
    const kit = createConsumerKit({ handlers: [handler] })
    await kit.send(...group('a', 10))
    // 30 s: after the first two runs of 8 s there are 14 s left, after the third 6 s.
    expect(await kit.invoke()).toMatchObject({ received: 10, kept: 7 })
    expect(await kit.invoke()).toMatchObject({ received: 7, kept: 4 })
    expect(runs).toEqual([1, 2, 3, 4, 5, 6])
    expect(new Set(attempts)).toEqual(new Set([1]))
    await kit.drain()
    expect(runs).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('does not run a message whose handle the queue refuses, and reports it with its followers', async () => {
    const { runs, handler } = recorder()
    const kit = createConsumerKit({ handlers: [handler] })
    await kit.send(...group('a', 2), { group: 'b', n: 9 })
    const records = kit.sqs.queue.receive(10)
    const [first] = records
    if (first === undefined) throw new Error('nothing received')
    const event = {
      Records: records.map(({ messageId, body, handle = '', groupId }) => ({
        messageId,
        receiptHandle: messageId === first.messageId ? 'not-a-handle-any-more' : handle,
        body,
        attributes: { ApproximateReceiveCount: '1', MessageGroupId: groupId },
        messageAttributes: {},
        eventSourceARN: kit.sqs.queue.arn,
      })),
    }
    const { batchItemFailures } = await kit.consumer(event, { getRemainingTimeInMillis: () => FUNCTION_MS })
    expect(runs).toEqual([9])
    expect(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(
      records.slice(0, 2).map(({ messageId }) => messageId),
    )
  })

  it('runs when the queue does not answer to the change of visibility', async () => {
    const { runs, handler } = recorder()
    const kit = createConsumerKit({
      handlers: [handler],
      sqs: {
        failRequest: (action) =>
          action === 'ChangeMessageVisibilityBatch'
            ? { code: 'RequestThrottled', message: '', senderFault: true }
            : undefined,
      },
    })
    await kit.send({ n: 1 })
    expect(await kit.invoke()).toMatchObject({ received: 1, kept: 0 })
    expect(runs).toEqual([1])
  })
})

describe('a crash', () => {
  it('in mid-handler is retried within seconds of the lease', proves('timeout-mid-handler'), async () => {
    let hang = true
    const started = Promise.withResolvers<void>()
    const { runs, attempts, handler } = recorder(() => {
      started.resolve()
      return hang ? never : undefined
    })
    const kit = createConsumerKit({ handlers: [handler] })
    await kit.send(...group('a', 2))
    void kit.invoke()
    await started.promise
    await kit.clock.advance(HELD_MS - 1)
    expect(await kit.invoke()).toMatchObject({ received: 0 })
    hang = false
    await kit.clock.advance(1)
    expect(await kit.invoke()).toMatchObject({ received: 2, kept: 0 })
    expect(runs).toEqual([1, 1, 2])
    expect(attempts).toEqual([1, 1, 1])
  })

  it('costs its own handler attempts and the neighbours none', proves('crashing-neighbour'), async () => {
    const crashing = 1
    const { attempts, runs, handler } = recorder((n) => (n === crashing ? never : undefined))
    const slow = Promise.withResolvers<void>()
    const neighbours: number[] = []
    const neighbour = on('order.placed', 'notify', async (event) => {
      neighbours.push(numberOf(event))
      if (numberOf(event) !== crashing && kit.clock.now() === START) await slow.promise
    })
    const kit = createConsumerKit({ handlers: [neighbour, handler] })
    await kit.send(...Array.from({ length: 10 }, (_, n) => ({ group: `g${n + 1}`, n: n + 1 })))
    // The first batch crashes while all ten run.
    const crash = async () => {
      const before = runs.filter((n) => n === crashing).length
      void kit.invoke()
      for (let turns = 0; turns < 200 && runs.filter((n) => n === crashing).length === before; turns++) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      return runs.filter((n) => n === crashing).length > before
    }
    expect(await crash()).toBe(true)
    expect(runs).toEqual([crashing])
    let batches = 1
    while (kit.left() > 0 && batches < 40) {
      const next = kit.comesBackAt() ?? kit.clock.now()
      await kit.clock.advance(Math.max(0, next - kit.clock.now()))
      await crash()
      batches += 1
    }
    expect(runs.filter((n) => n !== crashing).toSorted((a, b) => a - b)).toEqual([2, 3, 4, 5, 6, 7, 8, 9, 10])
    expect(new Set(attempts.filter((_, i) => runs[i] !== crashing))).toEqual(new Set([1]))
    // Once beside others, which costs nothing, then eight times alone.
    expect(runs.filter((n) => n === crashing)).toHaveLength(9)
    expect(kit.deadLetters()).toMatchObject([{ note: { handlers: ['shop/reserve'], attempts: 8 } }])
    expect(kit.counts.get('crashed')).toBe(8)
    for (let n = 2; n <= 10; n++)
      expect(kit.row({ group: `g${n}`, n }, 'reserve')).toMatchObject({ status: 'done', attempts: 0 })
  })

  it('leaves lapsed claims to run one at a time, after all else of the batch', async () => {
    let hang = true
    const { runs, most, handler } = recorder((n) =>
      hang && n < 3 ? never : new Promise((resolve) => setImmediate(resolve)),
    )
    const kit = createConsumerKit({ handlers: [handler] })
    await kit.send({ group: 'a', n: 1 }, { group: 'b', n: 2 })
    void kit.invoke()
    while (runs.length < 2) await new Promise((resolve) => setImmediate(resolve))
    await kit.clock.advance(HELD_MS)
    hang = false
    await kit.send({ group: 'c', n: 3 }, { group: 'd', n: 4 }, { group: 'a', n: 5 })
    const before = most()
    expect(before).toBe(2)
    expect(await kit.invoke()).toMatchObject({ received: 5, kept: 0 })
    expect(new Set(runs.slice(2, 4))).toEqual(new Set([3, 4]))
    expect(runs.slice(4)).toEqual([1, 5, 2])
    expect(kit.counts.get('takenOver')).toBe(2)
    expect(kit.counts.get('crashed')).toBeUndefined()
  })

  it('runs last those that crashed the process before', async () => {
    let hang = true
    const { runs, handler } = recorder(() => (hang ? never : undefined))
    const kit = createConsumerKit({ handlers: [handler] })
    const crash = async (expected: number) => {
      void kit.invoke()
      while (runs.length < expected) await new Promise((resolve) => setImmediate(resolve))
      await kit.clock.advance(HELD_MS)
    }
    await kit.send({ group: 'a', n: 1 })
    await crash(1)
    // Alone, and so its own crash.
    await crash(2)
    await kit.send({ group: 'b', n: 2 })
    await kit.clock.advance(5000)
    await crash(3)
    hang = false
    await kit.clock.advance(HELD_MS)
    await kit.drain()
    expect(runs.slice(0, 3)).toEqual([1, 1, 2])
    expect(runs.slice(3)).toEqual([2, 1])
  })

  it('gives lapsed claims back when there is too little time to run alone', async () => {
    let hang = true
    const { runs, handler } = recorder((n) => (n === 1 ? (hang ? never : undefined) : kit.clock.advance(16_000)))
    const kit = createConsumerKit({ handlers: [handler] })
    await kit.send({ group: 'a', n: 1 })
    void kit.invoke()
    while (runs.length < 1) await new Promise((resolve) => setImmediate(resolve))
    await kit.clock.advance(HELD_MS)
    hang = false
    await kit.send({ group: 'b', n: 2 })
    expect(await kit.invoke()).toMatchObject({ received: 2, kept: 1 })
    expect(runs).toEqual([1, 2])
    expect(await kit.invoke()).toMatchObject({ received: 1, kept: 0 })
    expect(runs).toEqual([1, 2, 1])
  })

  it('spends nothing while the consumer cannot run at all', proves('consumer-cannot-start'), async () => {
    const { runs, attempts, handler } = recorder()
    const kit = createConsumerKit({ handlers: [handler] })
    await kit.send({ n: 1 })
    for (let receives = 0; receives < 100; receives++) {
      expect(kit.sqs.queue.receive(10)).toHaveLength(1)
      await kit.clock.advance(900_000)
    }
    await kit.invoke()
    expect([runs, attempts]).toEqual([[1], [1]])
    expect(kit.deadLetters()).toEqual([])
  })
})

describe('a running handler', () => {
  it(
    'is waited for beyond its abort signal, and by its redelivery',
    proves('signal-ignored', 'handler-outlives-visibility', 'duplicate-while-running'),
    async () => {
      const gate = Promise.withResolvers<void>()
      const started = Promise.withResolvers<AbortSignal>()
      const { runs, handler } = recorder((_, { signal }) => {
        started.resolve(signal)
        return gate.promise
      })
      const kit = createConsumerKit({ handlers: [handler] })
      await kit.send({ n: 1 })
      let answered = false
      const first = kit.invoke().finally(() => {
        answered = true
      })
      const signal = await started.promise
      await kit.clock.advance(FUNCTION_MS - 1001)
      expect(signal.aborted).toBe(false)
      await kit.clock.advance(1)
      expect(signal.aborted).toBe(true)
      // The queue hands it out again while it runs, as if its visibility had been too short.
      kit.sqs.queue.changeVisibility(kit.handleOf(1), 0)
      expect(await kit.invoke()).toMatchObject({ received: 1, kept: 1 })
      expect(kit.comesBackAt()).toBe(START + LEASE_MS)
      expect([answered, runs]).toEqual([false, [1]])
      gate.resolve()
      expect(await first).toMatchObject({ kept: 0 })
      await kit.drain()
      expect([runs, kit.deadLetters(), kit.left()]).toEqual([[1], [], 0])
      expect(kit.row({ n: 1 }, 'reserve')).toMatchObject({ status: 'done', attempts: 0 })
    },
  )
})

describe('a permanent error', () => {
  it('goes straight to the dead-letter queue, once', proves('permanent-error'), async () => {
    const { runs, handler } = recorder(() => {
      throw permanentError('no such customer')
    })
    const kit = createConsumerKit({ handlers: [handler] })
    await kit.send({ group: 'a', n: 1 })
    expect(await kit.invoke()).toMatchObject({ received: 1, kept: 0 })
    expect(runs).toEqual([1])
    expect(kit.deadLetters()).toMatchObject([
      { group: 'a', note: { life: START - 999, handlers: ['shop/reserve'], attempts: 8, reason: 'no such customer' } },
    ])
    expect(kit.lines.find(({ level }) => level === 'error')).toMatchObject({
      message: 'event dead-lettered',
      fields: { handler: 'shop/reserve', attempts: 8 },
    })
    expect(kit.lines).toContainEqual(
      expect.objectContaining({ message: 'handler failed', fields: expect.objectContaining({ error: 'PERMANENT' }) }),
    )
  })

  it('tells the dead letter why, and no log: the text of an error may hold the event’s data', async () => {
    const { handler } = recorder(() => {
      throw permanentError('unknown customer Jane Doe')
    })
    const kit = createConsumerKit({ handlers: [handler] })
    await kit.send({ group: 'a', n: 1 })
    await kit.invoke()
    expect(kit.deadLetters()).toMatchObject([{ note: { reason: 'unknown customer Jane Doe' } }])
    expect(JSON.stringify(kit.lines)).not.toContain('Jane')
  })
})
