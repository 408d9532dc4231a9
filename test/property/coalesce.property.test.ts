import fc from 'fast-check'
import { expect, it } from 'vitest'
import { coalesce } from '../../src/ledger/coalesce.ts'
import { runs } from './runs.ts'

/** A job comes some turns of the event loop after the one before, and its request takes some turns. */
const jobs = fc.array(
  fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), after: fc.nat({ max: 2 }), lasts: fc.nat({ max: 4 }) }),
  { maxLength: 30 },
)
type Job = { readonly n: number; readonly key: string; readonly lasts: number }

const turns = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n++) await new Promise((resolve) => setImmediate(resolve))
}

it('jobs gathered into requests are each answered by their own, and no two of a key are ever under way', async () => {
  const property = fc.asyncProperty(jobs, fc.integer({ min: 1, max: 5 }), async (all, maxJobs) => {
    const underWay = new Set<string>()
    const send = async (sent: readonly Job[]): Promise<number[]> => {
      expect(sent.length).toBeLessThanOrEqual(maxJobs)
      for (const { key } of sent) {
        expect(underWay.has(key)).toBe(false)
        underWay.add(key)
      }
      await turns(Math.max(...sent.map(({ lasts }) => lasts)))
      for (const { key } of sent) underWay.delete(key)
      return sent.map(({ n }) => n)
    }
    const ask = coalesce<Job, number>({ maxJobs, keyOf: ({ key }) => key, send })
    const answers: Promise<number>[] = []
    for (const [n, { key, after, lasts }] of all.entries()) {
      await turns(after)
      answers.push(ask({ n, key, lasts }))
    }
    expect(await Promise.all(answers)).toEqual(all.map((_, n) => n))
  })
  await fc.assert(property, runs(100))
})
