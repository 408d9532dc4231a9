import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeBody } from '../../../src/event/codec.ts'
import { createSender } from '../../../src/relay/sender.ts'
import { createSqsPublisher } from '../../../src/relay/sqs-publisher.ts'
import { createTimeBudget } from '../../../src/relay/time-budget.ts'
import { silentTelemetry } from '../../../src/telemetry.ts'
import { runs } from '../runs.ts'
import { faultsOf } from './arbitraries.ts'
import type { Plan } from './plan.ts'
import { createWorld, silent } from './world.ts'

/** Entries that are given to one sender at once or apart, several of a group among them: more than any relay does. */
const entries = fc.array(fc.record({ group: fc.constantFrom('g', 'h', 'i'), at: fc.nat({ max: 500 }) }), {
  maxLength: 15,
})

describe('the model of a sender', () => {
  it('never has two entries of one group on their way, whatever befalls its requests', async () => {
    const property = fc.asyncProperty(
      entries,
      fc.array(faultsOf('relay'), { maxLength: 4 }),
      fc.nat(),
      async (all, faults, seed) => {
        const world = createWorld(planOf(faults, seed))
        world.beginChapter(0)
        const process = world.spawn('relay')
        const { clock } = process
        const queue = world.queue('q1.fifo')
        const publisher = createSqsPublisher({ client: world.sqs.clientFor(process), queueUrl: queue.url })
        const budget = createTimeBudget(clock, 60_000)
        const sender = createSender({ publisher, clock, budget, telemetry: silentTelemetry, logger: silent })
        let settled = 0
        for (const [n, { group, at }] of all.entries()) {
          const identity = { source: 'shop', group, sequence: n + 1 }
          const body = encodeBody({ identity, type: 'one', time: '', dataText: '{}', headers: {}, life: 1 })
          const send = (): void => {
            const message = { deduplicationId: `d${n}`, groupId: `shop/${group}`, body }
            void sender.send(message, clock.now() + 60_000).then(() => {
              settled += 1
            })
          }
          world.scheduler.in(at, send)
        }
        await world.scheduler.run(() => false)
        const twice = world.books.breaches.filter((breach) => breach.startsWith('two entries'))
        expect(twice, world.story.text()).toEqual([])
        if (process.isAlive()) expect(settled).toBe(all.length)
      },
    )
    await fc.assert(property, runs(150))
  })
})

function planOf(faults: Plan['faults'], seed: number): Plan {
  const stream = { shards: 1, drops: 0, doubles: 0, shuffled: false }
  const chapters = [{ steps: [], outages: [], rest: 0, keepsDead: false }]
  return {
    seed,
    faults,
    chapters,
    skews: {},
    stream,
    scripts: [['ok']],
    refusesFor: 0,
    visibility: 900,
    concurrency: 1,
    batch: 10,
  }
}
