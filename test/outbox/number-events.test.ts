import { describe, expect, it } from 'vitest'
import { firstSequence } from '../../src/event/identity.ts'
import { nextSequence } from '../../src/outbox/number-events.ts'

const HOUR = 3_600_000
const midnight = Date.UTC(2026, 10, 30)
const today = firstSequence(midnight)
const yesterday = firstSequence(midnight - 1)

describe('the next number of a group', () => {
  it('is the day’s first in an empty one', () => {
    expect(nextSequence(undefined, midnight)).toBe(today)
    expect(nextSequence(undefined, midnight - 1)).toBe(yesterday)
  })

  it('follows on a young row, on either side of midnight', () => {
    const highest = { sequence: yesterday + 57, created: midnight - 60_000 }
    expect([-1, 0, 1, 11 * HOUR].map((ms) => nextSequence(highest, midnight + ms))).toEqual(
      Array(4).fill(yesterday + 58),
    )
  })

  it('follows on a row of a clock that is ahead', () => {
    const highest = { sequence: today + 7, created: midnight + HOUR }
    expect(nextSequence(highest, midnight - HOUR)).toBe(today + 8)
  })

  it('is the day’s first where the highest row is old, since higher ones may have expired', () => {
    const highest = { sequence: yesterday + 57, created: midnight - 6 * HOUR }
    expect(nextSequence(highest, midnight + 6 * HOUR - 1)).toBe(yesterday + 58)
    expect(nextSequence(highest, midnight + 6 * HOUR)).toBe(today)
    expect(nextSequence({ sequence: 41, created: 0 }, midnight)).toBe(today)
  })

  it('never goes back, however wrong the clock that gave the last one', () => {
    const highest = { sequence: today + 7, created: midnight - 100 * HOUR }
    expect(nextSequence(highest, midnight - HOUR)).toBe(today + 8)
  })
})
