import { expect, it } from 'vitest'
import type { JournalLine } from '../chaos/audit/journal-line.ts'
import { percentile, takeovers } from '../chaos/audit/takeovers.ts'

const start = (id: string, process: string, at: number): JournalLine => ({
  kind: 'start',
  id,
  handler: 'main/apply',
  attempt: 1,
  process,
  at,
})
const end = (id: string, process: string, at: number): JournalLine => ({
  kind: 'end',
  id,
  handler: 'main/apply',
  how: 'returned',
  process,
  at,
})

it('counts from a kill to the next start of what its process was running', () => {
  const journal = [
    start('a', 'c#1', 10),
    start('b', 'c#1', 11),
    end('b', 'c#1', 12),
    start('a', 'c#2', 70),
    end('a', 'c#2', 71),
  ]
  expect(takeovers([{ process: 'c#1', at: 20, inHand: [] }], journal)).toEqual([50])
})

it('counts what a killed relay had in hand and no handler had seen', () => {
  const journal = [start('seen', 'c#1', 5), end('seen', 'c#1', 6), start('fresh', 'c#1', 45)]
  expect(takeovers([{ process: 'relay#3', at: 20, inHand: ['seen', 'fresh', 'never'] }], journal)).toEqual([25])
})

it('counts nothing for processes that were not killed', () => {
  expect(takeovers([], [start('a', 'c#1', 10), start('a', 'c#2', 70)])).toEqual([])
})

it('gives percentiles of a sorted list, and 0 of an empty one', () => {
  expect(percentile([1, 2, 3, 4], 0.5)).toBe(3)
  expect(percentile([1, 2, 3, 4], 0.99)).toBe(4)
  expect(percentile([], 0.5)).toBe(0)
})
