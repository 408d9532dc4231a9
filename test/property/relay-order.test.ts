import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HEARTBEAT_PK } from '../../src/relay/row-store.ts'
import { beginRun } from '../../src/relay/run.ts'
import { sweep } from '../../src/relay/sweep.ts'
import { proves } from '../cases.ts'
import { arrivals } from '../support/fake-queue.ts'
import { orderedRow, REGION, stateOf, unorderedRow } from '../support/outbox-rows.ts'
import { createRelayWorld, driven, records } from '../support/relay-world.ts'
import { runs } from './runs.ts'

/** What happens to one batch of records on its way, and to the run that handles it. */
const batch = fc.record({
  shuffle: fc.nat(),
  drops: fc.nat({ max: 3 }),
  doubled: fc.boolean(),
  queueFails: fc.nat({ max: 4 }),
  marksFail: fc.boolean(),
  torn: fc.boolean(),
  sweeperBeside: fc.boolean(),
  minutes: fc.nat({ max: 4 }),
})

describe('relay and sweeper together', () => {
  it(
    'lose nothing and keep every group in order, whatever is shuffled, dropped, doubled, refused or unmarked',
    proves('records-shuffled', 'records-dropped-or-doubled', 'many-relays-at-once'),
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(batch, { minLength: 1, maxLength: 5 }),
          fc.integer({ min: 1, max: 12 }),
          async (batches, size) => {
            const world = createRelayWorld()
            // Consecutive numbers in each group: with unused ones between, a torn read of two at once is not seen through.
            const next = { a: 1, b: 1 }
            for (const step of batches) {
              const created = world.clock.now()
              const rows = Array.from({ length: size }, (_, n) => {
                const group = n % 2 === 0 ? 'a' : 'b'
                return orderedRow(group, next[group]++, { created })
              })
              rows.push(unorderedRow(`u${created}-${next.a}`, { created }))
              for (const row of rows) world.store.put(row)
              let failures = step.queueFails
              world.queue.fails = () => (failures-- > 0 ? 'InternalError' : undefined)
              if (step.torn) world.store.tear({ pk: 'G#shop/a', sk: rows[0]?.['sk']?.S ?? '' }, 2)
              if (step.marksFail) world.store.disturbMarks('failed', 'ok', 'failed')
              const shuffled = records(rows).sort((one, two) => order(one, step.shuffle) - order(two, step.shuffle))
              const kept = shuffled.slice(Math.min(step.drops, shuffled.length))
              await Promise.all([
                world.relayRecords(kept),
                step.doubled ? world.relayRecords(kept) : undefined,
                step.sweeperBeside ? driven(world.clock, sweep(beginRun(world.deps, 60_000), REGION)) : undefined,
              ])
              await world.clock.advance(step.minutes * 60_000)
            }
            world.queue.fails = () => undefined
            world.store.settleTorn()
            world.store.disturbMarks()
            await world.clock.advance(150_000)
            await world.sweep()
            const left = world.store.all().filter((row) => row['pk']?.S !== HEARTBEAT_PK && stateOf(row) !== 'relayed')
            expect(left).toEqual([])
            for (const group of ['a', 'b']) {
              const seen = [...new Set(arrivals(world.queue, `shop/${group}`))]
              expect(seen).toEqual([...seen].sort((one, two) => one - two))
            }
            const everything = new Set(world.queue.delivered.map(({ body }) => body))
            expect(everything.size).toBe(batches.length * (size + 1))
          },
        ),
        runs(60),
      )
    },
  )
})

function order(record: { dynamodb?: { SequenceNumber?: string | undefined } | undefined }, seed: number): number {
  return (Number(record.dynamodb?.SequenceNumber) * ((seed % 97) + 1)) % 101
}
