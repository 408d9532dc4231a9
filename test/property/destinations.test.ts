import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HEARTBEAT_PK } from '../../src/relay/row-store.ts'
import { proves } from '../cases.ts'
import { arrivals, createFakeQueue, type FakeQueue } from '../support/fake-queue.ts'
import { orderedRow, stateOf } from '../support/outbox-rows.ts'
import { createRelayWorld, records } from '../support/relay-world.ts'
import { runs } from './runs.ts'

const step = fc.record({
  types: fc.array(fc.constantFrom('one', 'two', 'both', 'bad-one', 'bad-both', 'malformed'), {
    minLength: 1,
    maxLength: 8,
  }),
  oneDown: fc.boolean(),
  twoDown: fc.boolean(),
  marksFail: fc.boolean(),
  sweepsAfter: fc.boolean(),
})

const ROUTED: Record<string, readonly string[]> = {
  one: ['queue'],
  two: ['two'],
  both: ['queue', 'two'],
  'bad-one': ['queue'],
  'bad-both': ['queue', 'two'],
}

describe('a group with two destinations that come and go', () => {
  it(
    'reaches each destination in order, is dead-lettered only for its content and in turn, and loses nothing',
    proves('crossed-destinations', 'one-destination-down', 'refused-for-content'),
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
          const made: { two?: FakeQueue } = {}
          const world = createRelayWorld({
            routes: (queue, clock) => {
              const two = createFakeQueue('two', clock)
              made.two = two
              return Object.entries(ROUTED).map(([type, names]) => ({
                type,
                to: names.map((name) => (name === 'two' ? two : queue)),
              }))
            },
          })
          const queues = [world.queue, made.two ?? world.queue]
          world.queue.refuses = ({ type }) => (type?.startsWith('bad') ? 'InvalidMessageContents' : undefined)
          const types: string[] = []
          let marksFailed = false
          for (const { types: added, oneDown, twoDown, marksFail, sweepsAfter } of steps) {
            const rows = added.map((type, n) => rowOf(types.length + n + 1, type, world.clock.now()))
            types.push(...added)
            for (const row of rows) world.store.put(row)
            const before = states(world)
            for (const [queue, down] of [
              [queues[0], oneDown],
              [queues[1], twoDown],
            ] as const)
              if (queue) queue.outage = down ? 'AccessDenied' : undefined
            if (marksFail) world.store.disturbMarks('ok', 'failed', 'busy')
            await world.relayRecords(records(rows))
            await world.clock.advance(121_000)
            if (sweepsAfter) await world.sweep()
            world.store.disturbMarks()
            marksFailed ||= marksFail
            checkTurns(before, states(world), types, marksFailed)
          }
          for (const queue of queues) queue.outage = undefined
          await world.clock.advance(121_000)
          await world.sweep()
          await world.sweep()
          const dead = types.map((type) => type.startsWith('bad') || type === 'malformed')
          expect(states(world)).toEqual(dead.map((isDead) => (isDead ? 'dead' : 'relayed')))
          for (const queue of queues) {
            const wanted = types.flatMap((type, n) => (takes(queue.name, type) ? [n + 1] : []))
            expect([...new Set(arrivals(queue, 'shop/g'))]).toEqual(wanted)
          }
        }),
        runs(80),
      )
    },
  )
})

function takes(name: string, type: string): boolean {
  return (ROUTED[type]?.includes(name) ?? false) && !(name === 'queue' && type.startsWith('bad'))
}

function rowOf(sequence: number, type: string, created: number) {
  return orderedRow('g', sequence, { type, created, ...(type === 'malformed' ? { extra: { body: undefined } } : {}) })
}

function states(world: ReturnType<typeof createRelayWorld>) {
  return world.store
    .all()
    .filter((row) => row['pk']?.S !== HEARTBEAT_PK)
    .map(stateOf)
}

/** Nothing was relayed or dead-lettered over the head of an earlier row, unless a mark failed; only bad rows are dead. */
function checkTurns(
  before: readonly string[],
  after: readonly string[],
  types: readonly string[],
  marksFailed: boolean,
): void {
  const firstPending = after.indexOf('pending')
  for (const [index, state] of after.entries()) {
    if (state === 'dead') expect(types[index]).toMatch(/^(bad|malformed)/)
    const moved = state !== 'pending' && (before[index] ?? 'pending') === 'pending'
    if (moved && !marksFailed && firstPending >= 0) expect(index).toBeLessThan(firstPending)
  }
}
