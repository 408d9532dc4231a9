import fc from 'fast-check'
import { describe, it } from 'vitest'
import { type Focus, planOf } from './arbitraries.ts'
import { FOCI } from './foci.ts'
import { play } from './play.ts'

/**
 * The same plans each time, so that it is the change at hand that a failure tells of. More, or others:
 * `MODEL_RUNS=10 MODEL_SEED=7 npx vitest run test/property/model`.
 */
const { MODEL_RUNS = '1', MODEL_SEED = '1' } = process.env

/** Plays plans until one breaks a promise; then shrinks it, and prints seed, plan and story. */
async function holds(focus: Focus, runs: number): Promise<void> {
  const property = fc.asyncProperty(planOf(focus), async (plan) => {
    const { breaches, story } = await play(plan)
    if (breaches.length > 0) throw new Error(`${breaches.join('\n')}\n\n${story}\n`)
  })
  await fc.assert(property, { numRuns: runs * Number(MODEL_RUNS), seed: Number(MODEL_SEED) })
}

describe('the model of the whole', { timeout: 600_000 }, () => {
  it('writers hear the truth, and what they wrote is all there or not at all', () => holds(FOCI.writers, 300))

  it('relay and sweepers lose nothing and keep each group in order, whatever befalls them', () =>
    holds(FOCI.relay, 500))

  it('consumers have every effect once, in order and within its attempts, whatever befalls them', () =>
    holds(FOCI.consumers, 500))

  it('a group with a long tail keeps its order', () => holds(FOCI.backlog, 12))

  it('all of it together comes to its end, and has kept every promise', () => holds(FOCI.all, 200))
})
