import fc from 'fast-check'
import { expect, it } from 'vitest'
import { encodeLifeNote } from '../../src/event/life.ts'
import type { RowImage } from '../../src/relay/row-image.ts'
import { arrivals } from '../support/fake-queue.ts'
import { orderedRow, relayedRow } from '../support/outbox-rows.ts'
import { createRelayWorld, records } from '../support/relay-world.ts'
import { runs } from './runs.ts'

const NOTE = { note: { S: encodeLifeNote({ life: 5, handlers: ['c/h'] }) } }

/** A group whose lower part was sent once: most of it is relayed, some of it waits again. */
const plan = fc.record({
  sent: fc.array(fc.constantFrom('relayed', 'relayed', 'replayed', 'redriven'), {
    minLength: 1,
    maxLength: 40,
    size: 'max',
  }),
  /** Rows above that wait for the first time; many, so that the tail begins deep. */
  fresh: fc.integer({ min: 90, max: 160 }),
  /** Where the batch begins: records may come again. */
  from: fc.nat({ max: 80 }),
  length: fc.integer({ min: 1, max: 40 }),
})

function rowOf(sequence: number, state: string): RowImage {
  if (state === 'relayed') return relayedRow(orderedRow('g', sequence))
  if (state === 'redriven') return orderedRow('g', sequence, { redrives: 1 })
  return orderedRow('g', sequence, state === 'replayed' ? { redrives: 1, extra: NOTE } : {})
}

it('a batch of a group with a deep tail sends no event before an older one that was never sent, and no replayed one before an older replayed one', async () => {
  const property = fc.asyncProperty(plan, async ({ sent, fresh, from, length }) => {
    const world = createRelayWorld()
    const states = [...sent, ...Array.from({ length: fresh }, () => 'fresh')]
    for (const [index, state] of states.entries()) world.store.put(rowOf(index + 1, state))
    const batch = states.map((_, index) => orderedRow('g', index + 1)).slice(from, from + length)
    await world.relayRecords(records(batch))
    const arrived = arrivals(world.queue, 'shop/g')
    expect(arrived).toEqual(arrived.toSorted((a, b) => a - b))
    for (const kind of ['fresh', 'replayed']) {
      const ofKind = states.flatMap((state, index) => (state === kind ? [index + 1] : []))
      const first = arrived.filter((sequence) => ofKind.includes(sequence))
      expect(first).toEqual(ofKind.slice(0, first.length))
    }
  })
  await fc.assert(property, runs(150))
})
