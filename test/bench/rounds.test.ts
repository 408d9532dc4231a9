import { describe, expect, it } from 'vitest'
import { holds, readable } from './figure.ts'
import { renderLine, renderTable } from './report.ts'
import { compare, interleave, median, spread } from './rounds.ts'

describe('rounds', () => {
  it('run the sides in turn, the other way round every second time, and throw the first ones away', async () => {
    const ran: string[] = []
    const side = (name: string) => ({ prepare: () => async () => void ran.push(name) })
    const samples = await interleave([side('a'), side('b')], { rounds: 3, warmUp: 1 })
    expect(ran.join(' ')).toBe('b a a b b a a b')
    expect(samples.map((of) => of.length)).toEqual([3, 3])
  })

  it('fail where the work was not done', async () => {
    const lazy = { prepare: () => async () => {}, verify: () => Promise.reject(new Error('not done')) }
    await expect(interleave([lazy], { rounds: 1, warmUp: 0 })).rejects.toThrow('not done')
  })

  it('compare by the median of the ratios of each round', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 3, 2])).toBe(2.5)
    expect(spread([1, 2, 3])).toBe(1)
    // A slow round is slow for both.
    expect(compare([1, 10, 2], [2, 20, 4])).toMatchObject({ ours: 2, peer: 4, ratio: 0.5, spread: 0 })
  })
})

describe('a figure', () => {
  const figure = { key: 'x', label: 'x', value: 0.6 }

  it('keeps its bound, ends included, and never if it is no number', () => {
    expect(holds({ ...figure, bound: { atLeast: 0.6 } })).toBe(true)
    expect(holds({ ...figure, bound: { atMost: 0.59 } })).toBe(false)
    expect(holds({ ...figure, value: Number.NaN })).toBe(false)
  })

  it('is reported with its sides, and by name if its bound does not hold', () => {
    const figures = [
      { ...figure, sides: { unit: 'ms', ours: 3, peer: 5 }, spread: 0.1 },
      { key: 'y', label: 'why', value: 7, bound: { atMost: 2 } },
    ]
    expect(JSON.parse(renderLine(figures, 1))).toEqual({
      x: 0.6,
      xOurs: 3,
      xPeer: 5,
      xSpread: 0.1,
      y: 7,
      failed: ['y'],
      seconds: 1,
    })
    expect(renderTable(figures, 1)).toContain('DOES NOT HOLD: y (7)')
  })

  it('is written short', () => {
    expect([0.62314, 48_213.4, 7.126, 0].map(readable)).toEqual(['0.623', '48,213', '7.13', '0'])
  })
})
