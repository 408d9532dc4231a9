import { describe, expect, it } from 'vitest'
import { planRequests } from '../../src/relay/plan-requests.ts'
import { proves } from '../cases.ts'

const MIB = 1_048_576
const LIMITS = { maxEntries: 10, maxBytes: MIB }
const entry = (groupId: string, bytes = 1) => ({ groupId, bytes })

describe('planRequests', () => {
  it('packs 25 groups into requests of 10, 10 and 5', () => {
    const { requests, rest } = planRequests(
      Array.from({ length: 25 }, (_, n) => entry(`g${n}`)),
      LIMITS,
    )
    expect(requests.map((request) => request.length)).toEqual([10, 10, 5])
    expect(rest).toEqual([])
  })

  it('fills 1 MiB to the byte, and splits before one byte more', proves('request-limits'), () => {
    const sizes = (...bytes: number[]) =>
      planRequests(
        bytes.map((size, n) => entry(`g${n}`, size)),
        LIMITS,
      ).requests.map((request) => request.length)
    expect(sizes(MIB / 2, MIB / 2)).toEqual([2])
    expect(sizes(MIB / 2, MIB / 2 + 1)).toEqual([1, 1])
    expect(sizes(1, MIB, 1)).toEqual([1, 1, 1])
  })

  it('sends an entry that is too large alone: the destination judges it', () => {
    expect(
      planRequests([entry('a'), entry('b', MIB + 1), entry('c')], LIMITS).requests.map((request) => request.length),
    ).toEqual([1, 1, 1])
  })

  it('leaves what finds no room in the requests allowed, in its old order and unsplit', () => {
    const entries = Array.from({ length: 25 }, (_, n) => entry(`g${n}`))
    const { requests, rest } = planRequests(entries, { ...LIMITS, maxRequests: 2 })
    expect(requests.flat()).toEqual(entries.slice(0, 20))
    expect(rest).toEqual(entries.slice(20))
    expect(planRequests(entries, { ...LIMITS, maxRequests: 0 })).toEqual({ requests: [], rest: entries })
    const [a1, a2, b1] = [entry('a', 1), entry('a', MIB), entry('b', MIB)]
    expect(planRequests([a1, a2, b1], { ...LIMITS, maxRequests: 1 })).toEqual({ requests: [[a1]], rest: [a2, b1] })
  })

  it('lets one entry of a group go, the first, and keeps the others in order', proves('group-never-overtaken'), () => {
    const [a1, b1, a2, a3] = [entry('a', 1), entry('b', 2), entry('a', 3), entry('a', 4)]
    expect(planRequests([a1, b1, a2, a3], LIMITS)).toEqual({ requests: [[a1, b1]], rest: [a2, a3] })
  })

  it('lets none of a group go that has an entry in flight', () => {
    const [a, b] = [entry('a'), entry('b')]
    expect(planRequests([a, b], LIMITS, new Set(['a']))).toEqual({ requests: [[b]], rest: [a] })
  })

  it('plans nothing for nothing', () => {
    expect(planRequests([], LIMITS)).toEqual({ requests: [], rest: [] })
  })
})
