import { afterAll, beforeAll, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import { replay } from '../../src/ops/replay.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import type { LocalAws } from '../../src/testing/local-aws-options.ts'
import { proves } from '../cases.ts'

let aws: LocalAws
beforeAll(async () => {
  aws = await startLocalAws({ speed: 20 })
})
afterAll(() => aws.stop())

const GROUPS = ['a', 'b', 'c']
const OF_A_GROUP = 8

it('a replay brings a new consumer what was relayed before it was there, in order, and runs no other handler again', {
  ...proves('replay-to-done-handler', 'redrive-within-dedup'),
  timeout: 120_000,
}, async () => {
  const logger = { info: () => {}, warn: () => {}, error: () => {} }
  const [orders, stats] = [
    await aws.createQueue('orders', { deadLetter: true }),
    await aws.createQueue('stats', { deadLetter: true }),
  ]
  const handled: string[] = []
  const counted: string[] = []
  const to = [orders, stats].map(({ url: queueUrl }) => createSqsPublisher({ client: aws.sqs, queueUrl }))
  await aws.startRelay({ routes: [{ to }], logger })
  aws.startSweeper({ routes: [{ to }], logger })
  aws.startConsumer({
    queue: orders,
    name: 'shop',
    logger,
    handlers: [on('step', 'handle', ({ key }) => handled.push(key))],
  })
  const old = aws.startConsumer({ queue: stats, name: 'stats', logger, handlers: [on('step', 'old', () => {})] })
  const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: aws.clock })
  for (let n = 1; n <= OF_A_GROUP; n++)
    await outbox.transact({
      events: GROUPS.map((group) => ({ source: 'shop', type: 'step', group, sequence: n, data: {} })),
    })
  await aws.idle({ timeoutMs: 50_000 })
  expect(handled).toHaveLength(GROUPS.length * OF_A_GROUP)

  await old.stop()
  const handlers = [
    on('step', 'old', () => counted.push('old')),
    on('step', 'count', ({ key }, { redriven }) => counted.push(`${key} ${redriven}`)),
  ]
  aws.startConsumer({ queue: stats, name: 'stats', logger, handlers })
  const system = { dynamo: aws.dynamo, sqs: aws.sqs, outboxTable: aws.outboxTable, consumers: [], clock: aws.clock }
  const options = { source: 'shop', handlers: ['stats/count'], by: 'test', perSecond: 1000, onEstimate: () => true }
  expect(await replay(system, options)).toMatchObject({ replayed: GROUPS.length * OF_A_GROUP, whole: true })
  await aws.idle({ timeoutMs: 50_000 })
  for (const group of GROUPS)
    expect(counted.filter((key) => key.startsWith(group))).toEqual(
      Array.from({ length: OF_A_GROUP }, (_, n) => `${group} ${n + 1} true`),
    )
  expect(counted).not.toContain('old')
  expect(handled).toHaveLength(GROUPS.length * OF_A_GROUP)
  for (const { deadLetterUrl = '' } of [orders, stats]) expect(aws.queue(deadLetterUrl).depth().visible).toBe(0)
})
