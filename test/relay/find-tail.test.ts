import { describe, expect, it } from 'vitest'
import type { GroupRange } from '../../src/outbox/row-queries.ts'
import { findTail, type Tail } from '../../src/relay/find-tail.ts'
import { beginRun } from '../../src/relay/run.ts'
import { orderedRow, relayedRow } from '../support/outbox-rows.ts'
import { createRelayWorld, type RelayWorld } from '../support/relay-world.ts'

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

describe('where a batch begins with its group', () => {
  /** The numbers of a group that are relayed, then those that are pending. */
  function worldOf({ relayed, newest }: { relayed: number; newest: number }): RelayWorld {
    const world = createRelayWorld()
    for (let n = 1; n <= newest; n += 1) {
      world.store.put(n <= relayed ? relayedRow(orderedRow('g', n)) : orderedRow('g', n))
    }
    return world
  }

  async function look(world: RelayWorld, batch = { lowest: 1, highest: 1 }): Promise<{ tail: Tail; reads: string[] }> {
    const reads: string[] = []
    const readGroup = (range: GroupRange, signal: AbortSignal) => {
      const { limit, bare = false, descending = false, from, to } = range
      const bound = [from ?? '', to ?? ''].map((text) => text && Number(text)).join('–')
      reads.push(`${bound} ${descending ? 'down' : 'up'}, ${limit} ${bare ? 'keys' : 'rows'}`)
      return world.store.readGroup(range, signal)
    }
    const run = beginRun({ ...world.deps, store: { ...world.store, readGroup } }, 60_000)
    const tail = await findTail(run, orderedRow('g', 1)['pk']?.S ?? '', { limit: 100, batch })
    return { tail, reads }
  }

  const sequencesOf = (tail: Tail) => (tail.kind === 'tail' ? tail.chunk.readings.map(({ sequence }) => sequence) : [])
  const upTo = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)

  it('takes one read of a page where that shows a settled row', async () => {
    const { tail, reads } = await look(worldOf({ relayed: 3, newest: 27 }))
    expect(reads).toEqual(['– down, 25 rows'])
    expect(tail).toMatchObject({ kind: 'tail', below: 3, newest: 27, chunk: { more: false } })
    expect(sequencesOf(tail)).toEqual(upTo(4, 27))
  })

  it('has nothing below where the group begins', async () => {
    const { tail } = await look(worldOf({ relayed: 0, newest: 24 }))
    expect(tail).not.toHaveProperty('below')
    expect(sequencesOf(tail)).toEqual(upTo(1, 24))
  })

  it('is nowhere once everything is settled', async () => {
    const { tail, reads } = await look(worldOf({ relayed: 30, newest: 30 }))
    expect(tail).toEqual({ kind: 'empty' })
    expect(reads).toHaveLength(1)
  })

  it('takes keys alone further down, up to its limit, then the first rows upward', async () => {
    const { tail, reads } = await look(worldOf({ relayed: 1, newest: 99 }))
    expect(reads).toEqual(['– down, 25 rows', '–74 down, 75 keys', '2– up, 25 rows'])
    expect(tail).toMatchObject({ kind: 'tail', below: 1, newest: 99, chunk: { more: true } })
    expect(sequencesOf(tail)).toEqual(upTo(2, 26))
  })

  it('is the batch’s own first row where the tail is deeper, if a settled row lies right below', async () => {
    const { tail, reads } = await look(worldOf({ relayed: 20, newest: 200 }), { lowest: 21, highest: 30 })
    expect(reads).toEqual(['– down, 25 rows', '–175 down, 75 keys', '–20 down, 25 keys', '21– up, 25 rows'])
    expect(tail).toMatchObject({ kind: 'tail', below: 20, newest: 30 })
    expect(sequencesOf(tail)).toEqual(upTo(21, 45))
  })

  it('is left to the sweeper where nothing settled lies right below, or where the first row was sent before', async () => {
    const backlog = await look(worldOf({ relayed: 20, newest: 200 }), { lowest: 50, highest: 60 })
    expect(backlog.tail).toEqual({ kind: 'deep' })
    expect(backlog.reads.slice(2)).toEqual(['–49 down, 25 keys'])
    const again = await look(worldOf({ relayed: 20, newest: 200 }), { lowest: 15, highest: 30 })
    expect(again.tail).toEqual({ kind: 'deep' })
    const redriven = worldOf({ relayed: 20, newest: 200 })
    redriven.store.put(orderedRow('g', 21, { redrives: 1 }))
    expect((await look(redriven, { lowest: 21, highest: 30 })).tail).toEqual({ kind: 'deep' })
  })
})
