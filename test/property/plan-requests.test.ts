import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { planRequests } from '../../src/relay/plan-requests.ts'
import { proves } from '../cases.ts'
import { runs } from './runs.ts'

const entries = fc.array(
  fc.record({ groupId: fc.constantFrom(...'abcdefghijklmnop'), bytes: fc.integer({ min: 1, max: 120 }), n: fc.nat() }),
  { maxLength: 80 },
)
const limits = fc.record({ maxEntries: fc.integer({ min: 1, max: 10 }), maxBytes: fc.integer({ min: 50, max: 300 }) })

describe('planning requests', () => {
  it(
    'never exceeds a limit, never takes a group twice, never reorders one, and loses nothing',
    proves('request-limits', 'group-never-overtaken'),
    () => {
      fc.assert(
        fc.property(entries, limits, fc.uniqueArray(fc.constantFrom(...'abcdefgh')), (ready, limit, busy) => {
          const { requests, rest } = planRequests(ready, limit, new Set(busy))
          const taken = requests.flat()
          for (const request of requests) {
            expect(request.length).toBeGreaterThan(0)
            expect(request.length).toBeLessThanOrEqual(limit.maxEntries)
            const bytes = request.reduce((sum, { bytes }) => sum + bytes, 0)
            if (request.length > 1) expect(bytes).toBeLessThanOrEqual(limit.maxBytes)
          }
          const groups = taken.map(({ groupId }) => groupId)
          expect(new Set(groups).size).toBe(groups.length)
          expect(groups.some((group) => busy.includes(group))).toBe(false)
          for (const entry of taken) expect(ready.find(({ groupId }) => groupId === entry.groupId)).toBe(entry)
          expect(rest).toEqual(ready.filter((entry) => !taken.includes(entry)))
          expect(taken.length + rest.length).toBe(ready.length)
        }),
        runs(100),
      )
    },
  )

  it('sends everything in the end, each group in its order, whatever the limits are', () => {
    fc.assert(
      fc.property(entries, limits, (ready, limit) => {
        const sent: (typeof ready)[number][] = []
        for (let left: readonly (typeof ready)[number][] = ready; left.length > 0; ) {
          const { requests, rest } = planRequests(left, limit)
          sent.push(...requests.flat())
          left = rest
        }
        expect(sent).toHaveLength(ready.length)
        for (const group of new Set(ready.map(({ groupId }) => groupId))) {
          const ofGroup = (all: typeof ready) => all.filter(({ groupId }) => groupId === group)
          expect(ofGroup(sent)).toEqual(ofGroup(ready))
        }
      }),
      runs(100),
    )
  })
})
