import { ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEFAULT_BACKOFF, retryBackoff } from '../../src/backoff.ts'
import { on } from '../../src/consumer/handler.ts'
import type { Event } from '../../src/event/event.ts'
import { eventId } from '../../src/event/identity.ts'
import { decodeLifeNote } from '../../src/event/life.ts'
import { redriveMessage } from '../../src/ops/redrive-messages.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { proves } from '../cases.ts'
import { consoleRedrive } from '../support/dead-letters.ts'
import { type Pipeline, silent, startPipeline } from '../support/pipeline.ts'

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await startPipeline({ speed: 50, sources: ['tool', 'console', 'soon'] })
})
afterAll(() => pipeline.aws.stop())

/** Event 1 of a group fails until its cause is mended; event 2 stands behind it. */
function openCase(source: string, maxAttempts?: number) {
  const { aws, queue } = pipeline
  const events = [1, 2].map((sequence) => ({
    source,
    type: 'step',
    group: 'customer/a',
    sequence,
    data: { sequence, text: 'ünïcode \u{1F680} \u0000' },
    headers: { tenant: 'blue' },
    time: '2026-01-31T12:00:00.000Z',
  }))
  const [first, second] = events as [(typeof events)[number], (typeof events)[number]]
  const state = { mended: false }
  const runs: { readonly event: Event; readonly at: number; readonly attempt: number; readonly redriven: boolean }[] =
    []
  const others: number[] = []
  const consumer = aws.startConsumer({
    queue: queue(source),
    name: 'shop',
    logger: silent,
    handlers: [
      on(
        'step',
        'fails',
        (event, { attempt, redriven }) => {
          runs.push({ event, at: aws.clock.now(), attempt, redriven })
          if (event.sequence === 1 && !state.mended) throw new Error('the printer is out of paper')
        },
        maxAttempts === undefined ? {} : { maxAttempts },
      ),
      on('step', 'works', ({ sequence = 0 }) => others.push(sequence)),
    ],
  })
  return {
    first,
    second,
    events,
    state,
    runs,
    others,
    consumer,
    ofFirst: () => runs.filter(({ event }) => event.sequence === 1),
  }
}

const lookAt = async (source: string) => {
  const { Messages = [] } = await pipeline.aws.sqs.send(
    new ReceiveMessageCommand({
      QueueUrl: pipeline.queue(source).deadLetterUrl,
      MessageSystemAttributeNames: ['All'],
      MessageAttributeNames: ['All'],
      VisibilityTimeout: 0,
    }),
  )
  return Messages
}

it('a failing handler goes through the whole schedule to the dead-letter queue; redriven, it handles the event as it was written', {
  ...proves('every-field-survives', 'ids-on-every-path', 'no-message-delay', 'two-handlers-one-fails'),
  timeout: 60_000,
}, async () => {
  const { aws, queue, write, row, entry, deadLetters } = pipeline
  const { first, second, events, state, runs, others, consumer, ofFirst } = openCase('tool')
  await write(...events)
  await waitFor(() => deadLetters('tool') === 1, { timeoutMs: 40_000 })
  // Eight tries, each after its delay; the group waited for it, then went on.
  const waits = ofFirst()
    .slice(1)
    .map(({ at }, n) => (at - (ofFirst()[n]?.at ?? 0)) / 1000)
  expect(waits).toHaveLength(7)
  for (const [n, wait] of waits.entries()) expect(wait).toBeGreaterThanOrEqual(retryBackoff(n + 1, DEFAULT_BACKOFF))
  expect(ofFirst().map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  await waitFor(() => runs.at(-1)?.event.sequence === 2 && others.length === 2)
  expect(others).toEqual([1, 2])

  // In the dead-letter queue: the body of the row, the group of the queue, one attribute that says why.
  const [letter] = await lookAt('tool')
  expect(letter?.Body).toBe((await row(first))?.['body'])
  expect(letter?.Attributes?.MessageGroupId).toBe(`tool/${first.group}`)
  const note = decodeLifeNote(letter?.MessageAttributes?.['outbox']?.StringValue ?? '')
  expect(note).toMatchObject({ handlers: ['shop/fails'], attempts: 8, reason: 'Error: the printer is out of paper' })
  expect(await entry(first, 'shop/fails')).toMatchObject({ status: 'dead', attempts: 8 })

  state.mended = true
  const { url: queueUrl, deadLetterUrl: deadLetterQueueUrl } = queue('tool')
  const letters = { client: aws.sqs, queueUrl, deadLetterQueueUrl }
  expect(await redriveMessage(letters, { id: eventId(second) })).toEqual({ redriven: 0, failed: 0, left: 1 })
  expect(await redriveMessage(letters, { id: eventId(first), handler: 'shop/fails' })).toEqual({
    redriven: 1,
    failed: 0,
    left: 0,
  })
  await waitFor(() => ofFirst().length === 9)
  const last = ofFirst().at(-1)
  expect(last).toMatchObject({ attempt: 1, redriven: true })
  expect(last?.event).toEqual(ofFirst()[0]?.event)
  expect(last?.event).toMatchObject({ ...first, id: eventId(first) })
  await waitFor(async () => (await entry(first, 'shop/fails'))?.['status'] === 'done')
  expect([others, deadLetters('tool')]).toEqual([[1, 2], 0])
  await consumer.stop()
})

it(
  'a redrive from the AWS console runs the named handler in a fresh life, again and again',
  proves('console-redrive', 'redrive-within-dedup'),
  async () => {
    const { aws, queue, write, entry, deadLetters } = pipeline
    const { first, state, others, consumer, ofFirst } = openCase('console', 1)
    await write(first)
    for (const life of [1, 2]) {
      // Twice: the second time it has failed again in its new life.
      await waitFor(() => deadLetters('console') === 1)
      expect(ofFirst()).toHaveLength(life)
      state.mended = life === 2
      const { url: to, deadLetterUrl: from } = queue('console')
      await consoleRedrive(aws.sqs, { from, to })
    }
    await waitFor(() => ofFirst().length === 3)
    await waitFor(async () => (await entry(first, 'shop/fails'))?.['status'] === 'done')
    expect(ofFirst().map(({ attempt, redriven }) => [attempt, redriven])).toEqual([
      [1, false],
      [1, true],
      [1, true],
    ])
    expect(ofFirst().at(-1)?.event).toEqual(ofFirst()[0]?.event)
    expect([others, deadLetters('console')]).toEqual([[1], 0])
    await consumer.stop()
  },
)

it(
  'a tool that redrives again and again is taken each time, within five minutes too',
  proves('redrive-within-dedup'),
  async () => {
    const { aws, queue, write, entry, deadLetters } = pipeline
    const { first, state, consumer, ofFirst } = openCase('soon', 1)
    const { url: queueUrl, deadLetterUrl: deadLetterQueueUrl } = queue('soon')
    const began = aws.clock.now()
    await write(first)
    for (const life of [1, 2, 3]) {
      await waitFor(() => deadLetters('soon') === 1)
      expect(ofFirst()).toHaveLength(life)
      state.mended = life === 3
      const report = await redriveMessage({ client: aws.sqs, queueUrl, deadLetterQueueUrl }, { id: eventId(first) })
      expect(report.redriven).toBe(1)
    }
    await waitFor(async () => (await entry(first, 'shop/fails'))?.['status'] === 'done')
    expect(aws.clock.now() - began).toBeLessThan(5 * 60_000)
    expect(ofFirst()).toHaveLength(4)
    await consumer.stop()
  },
)
