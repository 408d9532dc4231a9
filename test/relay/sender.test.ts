import { describe, expect, it } from 'vitest'
import type { OutgoingMessage } from '../../src/relay/publisher.ts'
import { createSender } from '../../src/relay/sender.ts'
import { createTimeBudget } from '../../src/relay/time-budget.ts'
import type { MetricKey } from '../../src/telemetry.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'
import { proves } from '../cases.ts'
import { createFakeQueue } from '../support/fake-queue.ts'
import { driven } from '../support/relay-world.ts'

const message = (n: number | string, groupId = `g${n}`, body = '{}'): OutgoingMessage => ({
  deduplicationId: `d${n}`,
  groupId,
  body,
})

function setUp(remainingMs = 120_000) {
  const clock = createManualClock()
  const queue = createFakeQueue('q', clock)
  const counts = new Map<MetricKey, number>()
  const telemetry = {
    count: (metric: MetricKey, value = 1) => void counts.set(metric, (counts.get(metric) ?? 0) + value),
  }
  const silent = () => {}
  const logger = { info: silent, warn: silent, error: silent }
  const sender = createSender({
    publisher: queue,
    clock,
    budget: createTimeBudget(clock, remainingMs),
    telemetry,
    logger,
  })
  const sendAll = (messages: readonly OutgoingMessage[], notAfter = Number.POSITIVE_INFINITY) =>
    driven(clock, Promise.all(messages.map((one) => sender.send(one, notAfter))))
  return { clock, queue, sender, sendAll, counts }
}

describe('createSender', () => {
  it('gathers what one turn of the event loop brings into full requests, at most ten at once', async () => {
    const { queue, sendAll } = setUp()
    await sendAll(Array.from({ length: 205 }, (_, n) => message(n)))
    expect(queue.requests.map((request) => request.length)).toEqual([...Array(20).fill(10), 5])
    expect(queue.concurrent()).toBe(10)
  })

  it('keeps lanes that wait for their answers together without a timer', async () => {
    const { queue, sender, clock } = setUp()
    const lane = async (group: string) => {
      for (let n = 0; n < 7; n += 1) await sender.send(message(`${group}${n}`, group), Number.POSITIVE_INFINITY)
    }
    await driven(clock, Promise.all(Array.from({ length: 20 }, (_, n) => lane(`g${n}`))))
    expect(queue.requests.map((request) => request.length)).toEqual(Array(14).fill(10))
  })

  it(
    'sends entries of one group one after the other, in order, though all are ready',
    proves('group-never-overtaken'),
    async () => {
      const { queue, sendAll } = setUp()
      await sendAll(Array.from({ length: 5 }, (_, n) => message(n, 'same')))
      expect(queue.requests.map((request) => request.map(({ deduplicationId }) => deduplicationId))).toEqual([
        ['d0'],
        ['d1'],
        ['d2'],
        ['d3'],
        ['d4'],
      ])
    },
  )

  it('tries a failed entry again before a later one of its group, and gives up after three tries', async () => {
    const { queue, sendAll, counts } = setUp()
    queue.fails = ({ deduplicationId }) => (deduplicationId === 'd0' ? 'InternalError' : undefined)
    expect(await sendAll([message(0, 'same'), message(1, 'same'), message(2)])).toEqual([
      { status: 'failed', reason: 'InternalError' },
      { status: 'accepted' },
      { status: 'accepted' },
    ])
    expect(queue.requests.map((request) => request.map(({ deduplicationId }) => deduplicationId))).toEqual([
      ['d0', 'd2'],
      ['d0'],
      ['d0'],
      ['d1'],
    ])
    expect(counts).toEqual(
      new Map([
        ['sent', 2],
        ['sendFailed', 1],
      ]),
    )
  })

  it('never throws for what a publisher does: throws, answers too little, or nothing', async () => {
    const { queue, sendAll } = setUp()
    const { publish } = queue
    const answers = [
      async () => Promise.reject(Object.assign(new Error('x'), { name: 'Odd' })),
      async () => [],
      async () => new Promise<never>(() => {}),
    ]
    Object.assign(queue, {
      publish: async (...given: Parameters<typeof publish>) => (answers.shift() ?? publish)(...given),
    })
    expect(await sendAll([message(0)])).toEqual([{ status: 'failed', reason: 'TimeoutError' }])
  })

  it('aborts the request when its time is up', async () => {
    const { queue, sendAll } = setUp()
    const reasons: unknown[] = []
    queue.before = (_, signal) =>
      new Promise((__, reject) => signal?.addEventListener('abort', () => reject(reasons.push(signal.reason))))
    await sendAll([message(0)])
    expect(reasons).toHaveLength(3)
    expect(reasons[0]).toMatchObject({ name: 'TimeoutError' })
  })

  it('pauses a destination of which nothing answers, for the run', async () => {
    const { queue, sendAll, sender } = setUp()
    queue.outage = 'AccessDenied'
    const outcomes = await sendAll(Array.from({ length: 500 }, (_, n) => message(n)))
    expect(outcomes.filter(({ status }) => status === 'unsent').length).toBeGreaterThan(300)
    expect([sender.paused(), sender.tried(), sender.answered()]).toEqual([true, true, false])
    queue.outage = undefined
    expect(await sendAll([message(1)])).toEqual([{ status: 'unsent', reason: 'paused' }])
  })

  it('does not pause for one message that keeps failing', async () => {
    const { queue, sendAll, sender } = setUp()
    queue.fails = ({ deduplicationId }) => (deduplicationId === 'dbad' ? 'SomethingNew' : undefined)
    for (let n = 0; n < 5; n += 1) await sendAll([message('bad')])
    expect(sender.paused()).toBe(false)
    expect(await sendAll([message(1)])).toEqual([{ status: 'accepted' }])
  })

  it('sends nothing from a read that is too old, and nothing once the time is over', async () => {
    const { queue, sendAll, clock } = setUp(10_000)
    expect(await sendAll([message(0)], clock.now() - 1)).toEqual([{ status: 'unsent', reason: 'stale' }])
    await clock.advance(8_000)
    expect(await sendAll([message(1)])).toEqual([{ status: 'unsent', reason: 'time' }])
    expect(queue.requests).toEqual([])
  })

  it('tells a refusal apart, and does not try it again', async () => {
    const { queue, sendAll, counts } = setUp()
    queue.refuses = () => 'too long'
    expect(await sendAll([message(0)])).toEqual([{ status: 'refused', reason: 'too long' }])
    expect(queue.requests).toHaveLength(1)
    expect(counts.get('refused')).toBe(1)
  })
})
