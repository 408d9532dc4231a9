import fc from 'fast-check'
import { runs } from '../runs.ts'
import type { Stage } from './stage.ts'

/** Plays plans until one breaks a rule; then shrinks it, and prints seed, plan and story. */
export async function holds<Plan>(
  plans: fc.Arbitrary<Plan>,
  times: number,
  play: (plan: Plan) => Promise<Stage>,
): Promise<void> {
  const { stackTraceLimit } = Error
  // Every aborted timer makes an error that nobody reads; its stack would cost half of the time.
  Error.stackTraceLimit = 0
  const property = fc.asyncProperty(plans, async (plan) => {
    const { breaches, story } = await play(plan)
    if (breaches.length > 0) throw new Error(`${breaches.join('\n')}\n\n${story.text()}\n`)
  })
  try {
    await fc.assert(property, runs(times))
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
