import { describe, expect, it } from 'vitest'
import { judgeQueueResponse } from '../../src/testing/queue-response.ts'
import { streamRecord } from '../../src/testing/records.ts'
import {
  type Attempt,
  judgeStreamResponse,
  nextStep,
  type RetryRules,
  recordsFrom,
} from '../../src/testing/stream-batch.ts'

const batch = [8, 9, 10, 11].map((sequence) =>
  streamRecord({ sequence, newImage: { pk: { S: `k${sequence}` }, sk: { S: '-' } } }),
)
const numbers = batch.map((record) => record.dynamodb.SequenceNumber)
const report = (...items: unknown[]): unknown => ({
  batchItemFailures: items.map((itemIdentifier) => ({ itemIdentifier })),
})

describe('the checkpoint rule', () => {
  it('goes on at the lowest sequence number reported, compared as a number', () => {
    const verdict = judgeStreamResponse(batch, report(numbers[3], numbers[1], numbers[2]))
    expect(verdict).toEqual({ status: 'partial', from: 9n })
    expect(recordsFrom(batch, 9n)).toEqual(batch.slice(1))
  })

  it.each([undefined, null, '', {}, { batchItemFailures: null }, { batchItemFailures: [] }])(
    'takes %j for success',
    (response) => {
      expect(judgeStreamResponse(batch, response)).toEqual({ status: 'success' })
      expect(judgeQueueResponse(['a', 'b'], response)).toEqual(['a', 'b'])
    },
  )

  it.each([
    report(''),
    report(null),
    report(123),
    report('a', 'not in the batch'),
    { batchItemFailures: [{ id: '1' }] },
    { batchItemFailures: 'all' },
    'text',
    5,
  ])('takes %j for a failure of the whole batch', (response) => {
    expect(judgeStreamResponse(batch, response)).toEqual({ status: 'failure' })
    expect(judgeQueueResponse(['a', 'b'], response)).toEqual([])
  })

  it('keeps of a queue batch exactly what is reported', () => {
    expect(judgeQueueResponse(['a', 'b', 'c'], report('b'))).toEqual(['a', 'c'])
  })
})

describe('retries of a stream batch', () => {
  const rules = (more: Partial<RetryRules> = {}): RetryRules => ({ maxRetries: 2, bisect: false, ...more })
  const attempt = (retries = 0, records = batch): Attempt => ({ records, retries })

  it('tries a failed batch again as a whole, and counts', () => {
    expect(nextStep(attempt(), { status: 'failure' }, rules())).toEqual({
      step: 'retry',
      attempts: [attempt(1)],
      split: false,
    })
  })

  it('tries a partly failed batch again from its checkpoint, and counts', () => {
    const step = nextStep(attempt(1), { status: 'partial', from: 10n }, rules())
    expect(step).toEqual({ step: 'retry', attempts: [attempt(2, batch.slice(2))], split: false })
  })

  it('discards what is left once the retries are used up', () => {
    expect(nextStep(attempt(2), { status: 'failure' }, rules())).toEqual({ step: 'discard', records: batch })
    expect(nextStep(attempt(2), { status: 'partial', from: 10n }, rules())).toEqual({
      step: 'discard',
      records: batch.slice(2),
    })
  })

  it('never discards without a limit', () => {
    expect(nextStep(attempt(10_000), { status: 'failure' }, rules({ maxRetries: -1 }))).toMatchObject({ step: 'retry' })
  })

  it('halves a failed batch with bisect, which costs no retry, down to single records that do', () => {
    const step = nextStep(attempt(2), { status: 'failure' }, rules({ bisect: true }))
    expect(step).toEqual({
      step: 'retry',
      attempts: [attempt(2, batch.slice(0, 2)), attempt(2, batch.slice(2))],
      split: true,
    })
    const one = batch.slice(0, 1)
    expect(nextStep(attempt(1, one), { status: 'failure' }, rules({ bisect: true }))).toEqual({
      step: 'retry',
      attempts: [attempt(2, one)],
      split: false,
    })
    expect(nextStep(attempt(2, one), { status: 'failure' }, rules({ bisect: true }))).toEqual({
      step: 'discard',
      records: one,
    })
  })

  it('splits a partly failed batch at its checkpoint with bisect; without progress that is a retry', () => {
    const split = nextStep(attempt(2), { status: 'partial', from: 9n }, rules({ bisect: true }))
    expect(split).toEqual({ step: 'retry', attempts: [attempt(2, batch.slice(1))], split: true })
    const stuck = nextStep(attempt(1), { status: 'partial', from: 8n }, rules({ bisect: true }))
    expect(stuck).toEqual({ step: 'retry', attempts: [attempt(2)], split: false })
  })
})
