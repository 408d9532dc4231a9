import { describe, expect, it } from 'vitest'
import { holdable, orderedReadings } from '../../src/relay/group-chunk.ts'
import { orderedRow, REGION, relayedRow } from '../support/outbox-rows.ts'

const chunk = (...lengths: readonly number[]) => {
  const images = lengths.map((length, n) => {
    const row = orderedRow('g', n + 1, { body: 'x'.repeat(Math.abs(length)) })
    return length < 0 ? relayedRow(row) : row
  })
  return { readings: orderedReadings(images, new Set([REGION])), more: false, readAt: 0 }
}
const held = (...lengths: readonly number[]) => {
  const { readings, more } = holdable(chunk(...lengths))
  return [readings.length, more]
}

describe('holdable', () => {
  it('keeps a chunk of ordinary rows whole', () => {
    expect(held(...Array(25).fill(10_000))).toEqual([25, false])
    expect(held()).toEqual([0, false])
  })

  it('keeps 256 KB of waiting rows, and says that there is more', () => {
    expect(held(100_000, 100_000, 100_000)).toEqual([2, true])
    expect(held(262_144, 1)).toEqual([1, true])
  })

  it('keeps one row in any case', () => {
    expect(held(400_000, 400_000)).toEqual([1, true])
    expect(held(400_000)).toEqual([1, false])
  })

  it('does not count rows of which it holds no body', () => {
    expect(held(-400_000, -400_000, 100_000)).toEqual([3, false])
  })
})
