import { describe, expect, it } from 'vitest'
import { orderedRow, relayedRow } from '../support/outbox-rows.ts'
import { createRelayWorld } from '../support/relay-world.ts'

const created = 1_600_000_000_000

describe('where a sweep begins with a group', () => {
  it('is known after one read for a first row, and for one after a relayed row', async () => {
    const world = createRelayWorld()
    for (let n = 1; n <= 20; n += 1) world.store.put(orderedRow(`new${n}`, 1, { created }))
    for (let n = 1; n <= 20; n += 1) {
      world.store.put(relayedRow(orderedRow(`old${n}`, 1)))
      world.store.put(orderedRow(`old${n}`, 2, { created }))
    }
    expect(await world.sweep()).toMatchObject({ pending: 40, relayed: 40 })
    expect(world.store.calls.get('readGroup')).toBe(40)
    expect(world.store.calls.get('readBefore')).toBeUndefined()
  })

  it('takes a second read where numbers are missing below, and finds pending rows there', async () => {
    const world = createRelayWorld()
    // The clock of the writer of 3 was ahead: the index shows row 5 only.
    world.store.put(orderedRow('g', 3, { created: world.clock.now() + 3_600_000 }))
    world.store.put(orderedRow('g', 5, { created }))
    await world.sweep()
    expect(world.queue.delivered.map(({ body }) => JSON.parse(body).of.slice(-1))).toEqual(['3', '5'])
  })
})
