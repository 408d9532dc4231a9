import fc from 'fast-check'
import { describe, it } from 'vitest'
import { type Focus, faultsOf, planOf, STEPS } from './arbitraries.ts'
import type { Act } from './plan.ts'
import { play } from './play.ts'

/** Runs more, or others: `MODEL_RUNS=10 MODEL_SEED=1 npx vitest run test/property/model`. */
const { MODEL_RUNS = '1', MODEL_SEED } = process.env
const ALL_ACTS: readonly Act[] = [
  'ok',
  'ok',
  'throw',
  'permanent',
  'busy',
  'hang',
  'die',
  'slow',
  'commit-throw',
  'commit-swallow',
  'commit-unawaited',
  'commit-late',
  'own-condition',
]

/** Plays plans until one breaks a promise; then shrinks it, and prints seed, plan and story. */
async function holds(focus: Focus, runs: number): Promise<void> {
  const property = fc.asyncProperty(planOf(focus), async (plan) => {
    const { breaches, story } = await play(plan)
    if (breaches.length > 0) throw new Error(`${breaches.join('\n')}\n\n${story}\n`)
  })
  const seed = MODEL_SEED === undefined ? {} : { seed: Number(MODEL_SEED) }
  await fc.assert(property, { numRuns: runs * Number(MODEL_RUNS), ...seed })
}

describe('the model of the whole', { timeout: 600_000 }, () => {
  it('writers hear the truth, and what they wrote is all there or not at all', async () => {
    const steps = fc.oneof(STEPS.keyed, STEPS.keyed, STEPS.auto, STEPS.numbered, STEPS.doomed)
    await holds({ steps, faults: faultsOf('writer'), acts: ['ok'], maxChapters: 2 }, 300)
  })

  it('relay and sweepers lose nothing and keep each group in order, whatever befalls them', async () => {
    const steps = fc.oneof(
      STEPS.auto,
      STEPS.numbered,
      STEPS.late,
      STEPS.keyed,
      STEPS.replay,
      STEPS.redriveRows,
      STEPS.elsewhere,
    )
    await holds({ steps, faults: faultsOf('relay', 'sweeper', 'operator'), acts: ['ok'], maxChapters: 2 }, 500)
  })

  it('consumers have every effect once, in order and within its attempts, whatever befalls them', async () => {
    const steps = fc.oneof(STEPS.burst, STEPS.auto, STEPS.keyed, STEPS.redriveMessages, STEPS.byHand)
    await holds({ steps, faults: faultsOf('consumer', 'operator'), acts: ALL_ACTS, maxChapters: 2 }, 500)
  })

  it('all of it together comes to its end, and has kept every promise', async () => {
    const steps = fc.oneof(...Object.values(STEPS))
    const faults = faultsOf('writer', 'relay', 'sweeper', 'consumer', 'operator')
    await holds({ steps, faults, acts: ALL_ACTS, maxChapters: 3 }, 200)
  })
})
