import { describe, expect, it } from 'vitest'
import { compileRoutes } from '../../src/relay/routes.ts'
import { createFakeQueue } from '../support/fake-queue.ts'

const queue = (name: string) => createFakeQueue(name, { now: () => 0 })

describe('compileRoutes', () => {
  it('sends a row to every destination of every route that takes it, once', () => {
    const [one, two, three] = [queue('one'), queue('two'), queue('three')]
    const { publishers, destinationsOf } = compileRoutes([
      { source: 'shop', to: one },
      { source: ['shop', 'bank'], type: ['a', 'b'], to: [one, two] },
      { type: 'c', to: three },
    ])
    expect(publishers).toEqual([one, two, three])
    expect(destinationsOf({ source: 'shop', type: 'a' })).toEqual(['one', 'two'])
    expect(destinationsOf({ source: 'shop', type: 'c' })).toEqual(['one', 'three'])
    expect(destinationsOf({ source: 'bank', type: 'b' })).toEqual(['one', 'two'])
    expect(destinationsOf({ source: 'bank', type: 'z' })).toEqual([])
    expect(destinationsOf({ source: 'Shop', type: 'a' })).toEqual([])
  })

  it('sends a foreign row, which has neither source nor type, where nothing is asked for', () => {
    expect(compileRoutes([{ to: queue('q') }]).destinationsOf({})).toEqual(['q'])
    expect(compileRoutes([{ source: 's', to: queue('q') }]).destinationsOf({ type: 't' })).toEqual([])
    expect(compileRoutes([{ type: 't', to: queue('q') }]).destinationsOf({ source: 's' })).toEqual([])
  })

  it('refuses what cannot be meant', () => {
    expect(() => compileRoutes([])).toThrow('routes must hold at least one route')
    expect(() => compileRoutes([{ to: [] }])).toThrow('routes[0].to must name at least one destination')
    expect(() => compileRoutes([{ to: [queue('q'), queue('q')] }])).toThrow('another destination')
    expect(() => compileRoutes([{ to: queue('') }])).toThrow('1 to 64')
    expect(() => compileRoutes([{ to: queue('q'), types: 'a' } as never])).toThrow('"types"')
  })
})
