import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import type { HandlerContext } from '../../src/consumer/handler-context.ts'
import { OutboxError, permanentError } from '../../src/errors.ts'
import { proves } from '../cases.ts'
import { createConsumerKit, type TestEvent } from '../support/consumer-kit.ts'
import { runs } from './runs.ts'

const MAX_ATTEMPTS = 3
const HANDLERS = ['one', 'two'] as const

/** What a handler does in each of its runs for one event; afterwards it succeeds. */
const act = fc.constantFrom('ok', 'ok', 'fail', 'permanent', 'busy', 'crash', 'outage')
const script = fc.array(act, { maxLength: 5 })
const world = fc.record({
  groups: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
  scripts: fc.array(script, { minLength: 1, maxLength: 8 }),
})

describe('a consumer under failures, outages and crashes of any kind', () => {
  it(
    'has the effect of every event once per handler, in order within its group, within its attempts',
    proves('one-failure-in-batch', 'crashing-neighbour', 'crash-while-dead-lettering'),
    async () => {
      await fc.assert(
        fc.asyncProperty(world, async ({ groups, scripts }) => {
          const events: TestEvent[] = groups.flatMap((size, g) =>
            Array.from({ length: size }, (_, n) => ({ group: `g${g}`, n: n + 1 })),
          )
          const runs = new Map<string, number>()
          const spent = new Map<string, number>()
          const overtaken: string[] = []
          let crashed = false
          const actOf = (name: string, event: string, run: number) => {
            const place =
              events.findIndex(({ group, n }) => `${group} ${n}` === event) + HANDLERS.indexOf(name as 'one')
            return scripts[place % scripts.length]?.[run] ?? 'ok'
          }
          const handle =
            (name: string) =>
            async (event: { key: string }, { commit }: HandlerContext) => {
              const key = `${name} ${event.key}`
              const run = runs.get(key) ?? 0
              runs.set(key, run + 1)
              notePredecessors(event.key)
              switch (actOf(name, event.key, run)) {
                case 'crash':
                  crashed = true
                  return new Promise(() => {})
                case 'fail':
                  spent.set(key, (spent.get(key) ?? 0) + 1)
                  throw new Error('broken')
                case 'permanent':
                  spent.set(key, MAX_ATTEMPTS)
                  throw permanentError('broken for good')
                case 'busy':
                  throw new OutboxError('TRANSACTION_BUSY', 'later')
                case 'outage':
                  kit.store.faults.push('lost-answer')
              }
              return commit([{ Put: { TableName: 'effects', Item: { key } } }])
            }
          const kit = createConsumerKit({
            handlers: HANDLERS.map((name) => on('order.placed', name, handle(name), { maxAttempts: MAX_ATTEMPTS })),
          })
          const effects = (key: string) =>
            kit.committer.requests.filter(({ writes: [write] }) => write?.Put?.Item?.key === key).length
          const ended = (event: TestEvent) =>
            HANDLERS.every((name) => ['done', 'dead'].includes(kit.row(event, name)?.status ?? 'absent'))
          const notePredecessors = (key: string): void => {
            const event = events.find(({ group, n }) => `${group} ${n}` === key)
            const earlier = events.filter(({ group, n }) => group === event?.group && n < (event?.n ?? 0))
            if (!earlier.every(ended)) overtaken.push(key)
          }
          await kit.send(...events)
          for (let round = 0; kit.left() > 0; round++) {
            expect(round).toBeLessThan(400)
            crashed = false
            let answered = false
            void kit.invoke().then(() => {
              answered = true
            })
            // A crash ends the whole process: nothing of it does anything afterwards, once it stands still.
            for (let still = 0; !answered && still < 400; still++) {
              await new Promise((resolve) => setImmediate(resolve))
              if (!crashed) await kit.clock.advance(1)
              else if (still % 10 === 0) still += 90
            }
            expect(answered || crashed).toBe(true)
            const next = kit.comesBackAt()
            if (next !== undefined && next > kit.clock.now()) await kit.clock.advance(next - kit.clock.now())
          }
          expect(overtaken).toEqual([])
          for (const event of events) {
            expect(ended(event)).toBe(true)
            for (const name of HANDLERS) {
              const key = `${name} ${event.group} ${event.n}`
              expect(spent.get(key) ?? 0).toBeLessThanOrEqual(MAX_ATTEMPTS)
              const row = kit.row(event, name)
              expect(effects(key)).toBe(row?.status === 'done' ? 1 : 0)
            }
          }
        }),
        runs(60),
      )
    },
  )
})
