import { describe, expect, it } from 'vitest'
import type { Publisher } from '../../src/relay/publisher.ts'
import { createFakeQueue } from '../support/fake-queue.ts'
import { keyOfRow, orderedRow, stateOf, unorderedRow } from '../support/outbox-rows.ts'
import { createRelayWorld } from '../support/relay-world.ts'
import { fail, SECRET, THROWN, textOf } from './hostile-things.ts'

const ROWS = [unorderedRow('k1'), unorderedRow('k2'), orderedRow('g', 1), orderedRow('g', 2)]

/** A queue that works, and a destination that does what it likes. */
function beside(odd: Partial<Record<keyof Publisher, unknown>>) {
  const world = createRelayWorld({
    routes: (queue, clock) => [{ to: [queue, { ...createFakeQueue('odd', clock), ...odd } as Publisher] }],
  })
  const states = () => ROWS.map((image) => stateOf(world.store.get(keyOfRow(image))))
  return { world, states }
}

const answers = (make: (count: number) => unknown) => async (messages: readonly unknown[]) => make(messages.length)
const each = (outcome: unknown) => answers((count) => Array(count).fill(outcome))

/** Nothing of these says that a message was taken or will never be: the rows stay pending. */
const UNCLEAR: ReadonlyArray<readonly [title: string, publish: unknown]> = [
  ...THROWN.map(([title, make]): [string, unknown] => [`throws ${title}`, () => { throw make() }]), // biome-ignore format: one line
  ...THROWN.map(([title, make]): [string, unknown] => [`rejects with ${title}`, async () => { throw make() }]), // biome-ignore format: one line
  ['answers nothing', answers(() => undefined)],
  ['answers null', answers(() => null)],
  ['answers text', answers(() => 'accepted')],
  ['answers no outcomes', answers(() => [])],
  ['answers outcomes of null', each(null)],
  ['answers an unknown status', each({ status: 'ok' })],
  ['answers a status that is an object', each({ status: { toString: () => 'accepted' } })],
  ['fails without a reason', each({ status: 'failed' })],
  ['fails with a reason that is no text', each({ status: 'failed', reason: { toString: fail } })],
  ['answers at once, without a promise, nothing', () => undefined],
  ['never answers', () => new Promise(() => {})],
  ['answers after it has been given up', () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)))],
]

describe('a destination', () => {
  it.each(UNCLEAR)('that %s leaves its rows pending; the others are served', async (_, publish) => {
    const { world, states } = beside({ publish })
    await world.relay(ROWS)
    expect(world.queue.delivered).toHaveLength(ROWS.length)
    expect(states()).toEqual(Array(ROWS.length).fill('pending'))
    expect(textOf(world.log)).not.toContain(SECRET)
    expect(textOf([...world.store.all()])).not.toContain(SECRET)
  })

  it('that answers more outcomes than it was asked for is believed for its messages', async () => {
    const { world, states } = beside({ publish: answers((count) => Array(count + 5).fill({ status: 'accepted' })) })
    await world.relay(ROWS)
    expect(states()).toEqual(Array(ROWS.length).fill('relayed'))
  })

  it.each([
    ['no reason', undefined],
    ['a reason that is no text', { toString: fail }],
    ['an empty reason', ''],
    ['a reason of a megabyte and control characters', `\u0000\ud800${'x'.repeat(1_000_000)}`],
  ])('that refuses for good with %s has the rows dead-lettered with one that can be stored', async (_, reason) => {
    const { world, states } = beside({ publish: each({ status: 'refused', reason }) })
    await world.relay(ROWS)
    expect(states()).toEqual(Array(ROWS.length).fill('dead'))
    for (const image of ROWS) {
      const failure = world.store.get(keyOfRow(image))?.['failure']?.S ?? ''
      expect(failure).toMatch(/^\P{Cc}+$/u)
      expect(Buffer.byteLength(failure)).toBeLessThanOrEqual(512)
    }
  })

  it.each([
    ['throws', fail],
    ['is no number', () => Number.NaN],
    ['is negative', () => -5],
    ['is missing', () => undefined],
    ['is endless', () => Number.POSITIVE_INFINITY],
  ])('whose size of a message %s gets each alone', async (_, sizeOf) => {
    const sizes: number[] = []
    const publish = async (messages: readonly unknown[]) => {
      sizes.push(messages.length)
      return messages.map(() => ({ status: 'accepted' }))
    }
    const { world, states } = beside({ sizeOf, publish })
    await world.relay(ROWS)
    expect(states()).toEqual(Array(ROWS.length).fill('relayed'))
    expect(sizes).toEqual([1, 1, 1, 1])
  })

  it('with limits of nothing is served one message at a time, and ends', async () => {
    for (const limits of [
      { maxEntries: 0, maxBytes: 0 },
      { maxEntries: Number.NaN, maxBytes: Number.NaN },
    ]) {
      const { world, states } = beside({ ...limits, publish: each({ status: 'accepted' }) })
      await world.relay(ROWS)
      expect(states()).toEqual(Array(ROWS.length).fill('relayed'))
    }
  })
})
