import { describe, expect, it } from 'vitest'
import { beginRun } from '../../src/relay/run.ts'
import { sweep } from '../../src/relay/sweep.ts'
import { proves } from '../cases.ts'
import { arrivals } from '../support/fake-queue.ts'
import { orderedRow, REGION, relayedRow, stateOf, unorderedRow } from '../support/outbox-rows.ts'
import { createRelayWorld, driven, type RelayWorld } from '../support/relay-world.ts'

const MINUTE = 60_000
const dayAgo = 1_700_000_000_000 - 24 * 60 * MINUTE
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
const pending = (world: RelayWorld) => world.store.all().filter((row) => stateOf(row) === 'pending')

describe('a sweep of very many rows', () => {
  it(
    'reads ten rows where ten are pending, whatever was relayed before',
    proves('sweep-reads-pending-only'),
    async () => {
      const world = createRelayWorld()
      for (const n of range(1, 100_000)) world.store.put(relayedRow(unorderedRow(`relayed${n}`)))
      for (const n of range(1, 10)) world.store.put(unorderedRow(`k${n}`, { created: dayAgo }))
      expect(await world.sweep()).toMatchObject({ pending: 10, relayed: 10 })
      expect(Object.fromEntries(world.store.rowsRead)).toEqual({ readIndex: 10, readRows: 10 })
      expect(world.store.calls.get('readIndex')).toBe(64)
      expect(world.store.calls.get('readRows')).toBe(1)
    },
  )

  it('drains 20,000 pending rows of one group in order, and nobody reads it whole', {
    ...proves('long-group'),
    timeout: 60_000,
  }, async () => {
    const world = createRelayWorld()
    for (const n of range(1, 20_000)) world.store.put(orderedRow('g', n, { created: dayAgo + n }))
    let runs = 0
    for (; pending(world).length > 0 && runs < 20; runs += 1) {
      // A queue that answers in 5 ms: some 11,000 entries of one group a minute.
      world.queue.before = () => world.clock.sleep(5)
      expect(await driven(world.clock, sweep(beginRun(world.deps, MINUTE), REGION), 5)).toMatchObject({ paused: [] })
    }
    expect(arrivals(world.queue, 'shop/g')).toEqual(range(1, 20_000))
    expect(world.queue.accepted).toHaveLength(20_000)
    expect(runs).toBeLessThanOrEqual(4)
    expect(world.store.largestRead()).toBeLessThanOrEqual(500)
    expect(world.store.rowsRead.get('readGroup')).toBeLessThanOrEqual(20_000 + runs * 100)
  })

  it('lets a long group hold up no other row', { timeout: 60_000 }, async () => {
    const world = createRelayWorld()
    for (const n of range(1, 2000)) world.store.put(orderedRow('long', n, { created: dayAgo }))
    for (const n of range(1, 3000)) world.store.put(unorderedRow(`k${n}`, { created: dayAgo + 1 }))
    world.queue.before = () => world.clock.sleep(100)
    await world.sweep()
    expect(pending(world).filter((row) => row['sk']?.S === '-')).toEqual([])
    expect(arrivals(world.queue, 'shop/long').length).toBeLessThan(2000)
  })
})
