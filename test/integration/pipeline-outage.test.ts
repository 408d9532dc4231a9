import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEFAULT_BACKOFF, DEFAULT_MAX_ATTEMPTS, retryBackoff } from '../../src/backoff.ts'
import { on } from '../../src/consumer/handler.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { proves } from '../cases.ts'
import { type Pipeline, silent, startPipeline } from '../support/pipeline.ts'

const RETRIES = Array.from({ length: DEFAULT_MAX_ATTEMPTS - 1 }, (_, n) => retryBackoff(n + 1, DEFAULT_BACKOFF))
/** An outage that outlasts all retries there are anywhere, by a minute. ms */
const OUTAGE_MS = RETRIES.reduce((sum, seconds) => sum + seconds * 1000, 60_000)

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await startPipeline({ speed: 50, sources: ['shop'] })
})
afterAll(() => pipeline.aws.stop())

it('an outage of SQS spends no attempt and kills no row; everything is delivered in order afterwards', {
  ...proves('sqs-down-for-an-hour'),
  timeout: 60_000,
}, async () => {
  const { aws, queue, write, row, deadLetters } = pipeline
  const handled: string[] = []
  const attempts = new Set<number>()
  const note = on('step', 'note', ({ group, sequence }, ctx) => {
    attempts.add(ctx.attempt)
    handled.push(`${group} ${sequence}`)
  })
  aws.startConsumer({ queue: queue('shop'), name: 'shop', handlers: [note], logger: silent })
  const steps = (sequence: number) =>
    ['g', 'h'].map((group) => ({ source: 'shop', type: 'step', group, sequence, data: {} }))
  await write(...steps(1))
  await waitFor(() => handled.length === 2)
  aws.setSqsOutage(true)
  const began = aws.clock.now()
  for (let sequence = 2; sequence <= 10; sequence += 1) await write(...steps(sequence))
  await waitFor(() => aws.clock.now() - began >= OUTAGE_MS, { timeoutMs: 30_000 })
  for (let sequence = 2; sequence <= 10; sequence += 1) {
    const stored = await row({ source: 'shop', group: 'g', sequence })
    expect(stored?.['shard']).toMatch(/^p#/)
    for (const name of ['redrives', 'failure', 'expires', 'accepted']) expect(stored).not.toHaveProperty(name)
  }
  expect(handled).toHaveLength(2)
  aws.setSqsOutage(false)
  await waitFor(() => handled.length >= 20, { timeoutMs: 20_000 })
  for (const group of ['g', 'h']) {
    const expected = Array.from({ length: 10 }, (_, n) => `${group} ${n + 1}`)
    expect(handled.filter((text) => text.startsWith(group))).toEqual(expected)
  }
  expect([...attempts]).toEqual([1])
  expect(deadLetters('shop')).toBe(0)
})
