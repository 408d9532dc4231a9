import { describe, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import type { HandlerContext } from '../../src/consumer/handler-context.ts'
import { planJobs, type Registry } from '../../src/consumer/job.ts'
import type { Event } from '../../src/event/event.ts'
import type { LifeNote } from '../../src/event/life.ts'

const event: Event = { id: 'e', source: 's', key: 'k', type: 't', time: '', data: { n: [1] }, headers: {}, life: 1 }
const context = {} as HandlerContext
const seen: unknown[] = []
const handlers = ['a', 'b'].map((name) =>
  on('t', name, ({ data }) => {
    seen.push(structuredClone(data))
    ;(data as { n: number[] }).n.push(2)
  }),
)
const registry: Registry = { consumer: 'c', handlers, ignore: new Set(['ignored']) }

const plan = (change: Partial<Event> = {}, note?: LifeNote, using = registry) =>
  planJobs({ content: { ok: true, event: { ...event, ...change } }, ...(note === undefined ? {} : { note }) }, using)
const names = (jobs: ReturnType<typeof plan>) => jobs.map(({ name, metric }) => [name, metric])
const redriven = (...named: string[]): LifeNote => ({ life: 2, handlers: named, attempts: 8, reason: 'x' })

describe('the jobs of a message', () => {
  it('are all handlers of its type, none of them counted', () => {
    expect(names(plan())).toEqual([
      ['c/a', undefined],
      ['c/b', undefined],
    ])
    expect(plan()[0]).not.toHaveProperty('metric')
  })

  it('do not see what another one does to the event', async () => {
    seen.length = 0
    for (const job of plan({ data: { n: [1] } })) await job.run(context)
    expect(seen).toEqual([{ n: [1] }, { n: [1] }])
  })

  it('get the event itself where there is only one', async () => {
    const data = { n: [1] }
    const [only] = plan({ data }, undefined, { ...registry, handlers: handlers.slice(0, 1) })
    await only?.run(context)
    expect(data.n).toEqual([1, 2])
  })

  it('are none for a type that is ignored, and one that fails for good for a type that nobody takes', async () => {
    expect(plan({ type: 'ignored' })).toEqual([])
    const [nobody] = plan({ type: 'other' })
    expect(nobody).toMatchObject({ name: 'c/-', maxAttempts: 1, metric: 'unhandledType' })
    await expect(nobody?.run(context)).rejects.toMatchObject({
      code: 'PERMANENT',
      message: 'no handler takes this type',
    })
  })

  it('are those that a redrive names; one that is gone fails for good', async () => {
    expect(names(plan({}, redriven('c/b')))).toEqual([['c/b', undefined]])
    const [, gone] = plan({}, redriven('c/a', 'c/gone'))
    expect(gone).toMatchObject({ name: 'c/gone', maxAttempts: 1, metric: 'unknownHandler' })
    await expect(gone?.run(context)).rejects.toThrow('no handler of this name takes this type')
  })

  it('are, after a redrive of what nobody took, whichever handlers take it now, each once', () => {
    expect(names(plan({}, redriven('c/-')))).toEqual([
      ['c/a', undefined],
      ['c/b', undefined],
    ])
    expect(names(plan({}, redriven('c/-', 'c/b'))).map(([name]) => name)).toEqual(['c/b', 'c/a'])
    expect(names(plan({ type: 'other' }, redriven('c/-')))).toEqual([['c/-', 'unhandledType']])
  })

  it('of what cannot be read are one that fails with the reason, and is not counted', async () => {
    const [malformed, ...others] = planJobs({ content: { ok: false, reason: 'why' } }, registry)
    expect([malformed?.name, others]).toEqual(['c/-', []])
    expect(malformed).not.toHaveProperty('metric')
    await expect(malformed?.run(context)).rejects.toThrow('why')
  })
})
