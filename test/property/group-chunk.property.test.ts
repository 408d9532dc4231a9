import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { OrderedReading } from '../../src/relay/group-chunk.ts'
import { type Chunk, holdable, orderedReadings } from '../../src/relay/group-chunk.ts'
import { orderedRow, REGION, relayedRow } from '../support/outbox-rows.ts'
import { runs } from './runs.ts'

/** Characters that a group may hold between two reads, unless one row alone is longer. */
const MOST = 262_144

const row = fc.record({
  length: fc.oneof(
    fc.constantFrom(1, MOST, MOST + 1),
    fc.integer({ min: 1, max: 60_000 }),
    fc.integer({ min: 1, max: 400_000 }),
  ),
  waits: fc.boolean(),
})

it('what a group holds of a read is its beginning, never nothing, and never more than it may', () => {
  const property = fc.property(fc.array(row, { minLength: 1, maxLength: 25 }), fc.boolean(), (rows, more) => {
    const images = rows.map(({ length, waits }, n) => {
      const image = { ...orderedRow('g', n + 1), body: { S: 'x'.repeat(length) } }
      return waits ? image : relayedRow(image)
    })
    const chunk: Chunk = { readings: orderedReadings(images, new Set([REGION])), more, readAt: 1 }
    expect(waiting(chunk.readings)).toHaveLength(rows.filter(({ waits }) => waits).length)
    const held = holdable(chunk)
    const { length } = held.readings
    expect(held.readings).toEqual(chunk.readings.slice(0, length))
    expect(length).toBeGreaterThan(0)
    expect(held.more).toBe(more || length < chunk.readings.length)
    if (waiting(held.readings).length > 1) expect(charactersOf(held.readings)).toBeLessThanOrEqual(MOST)
    // Not less than it may: one more would be too much.
    const next = chunk.readings.slice(0, length + 1)
    if (next.length > length) expect(charactersOf(next)).toBeGreaterThan(MOST)
  })
  fc.assert(property, runs(150))
})

function waiting(readings: readonly OrderedReading[]): readonly OrderedReading[] {
  return readings.filter(({ kind }) => kind === 'pending')
}

function charactersOf(readings: readonly OrderedReading[]): number {
  return readings.reduce((sum, reading) => sum + (reading.kind === 'pending' ? reading.row.body.length : 0), 0)
}
