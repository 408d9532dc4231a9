import { expect, it } from 'vitest'
import { createTally } from '../../../functions/runtime/tally.ts'

it('adds counts up, keeps the largest value of a gauge, and forgets what it has given', () => {
  const tally = createTally()
  tally.count('sent')
  tally.count('sent', 4)
  tally.count('oldestPendingMs', 7)
  tally.count('oldestPendingMs', 3)
  expect(tally.drain()).toEqual([
    { name: 'Sent', unit: 'Count', value: 5 },
    { name: 'OldestPendingMs', unit: 'Milliseconds', value: 7 },
  ])
  expect(tally.drain()).toEqual([])
})

it('leaves out counts of 0, which would cost money, and gives gauges of 0, which an alarm waits for', () => {
  const tally = createTally()
  tally.count('refused', 0)
  tally.count('pendingRows', 0)
  expect(tally.drain()).toEqual([{ name: 'PendingRows', unit: 'Count', value: 0 }])
})
