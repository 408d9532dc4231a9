/**
 * The same runs each time, so that it is the change at hand that a failure tells of. More, or others:
 * `MODEL_RUNS=10 MODEL_SEED=7 npx vitest run test/property`. `MODEL_SHRINKS=no` where nobody reads the counterexample.
 */
const { MODEL_RUNS = '1', MODEL_SEED = '1', MODEL_SHRINKS = 'yes' } = process.env

export type Runs = { readonly numRuns: number; readonly seed: number; readonly endOnFailure: boolean }

/** How often a property is tried, and with which luck. */
export function runs(numRuns: number): Runs {
  return { numRuns: numRuns * Number(MODEL_RUNS), seed: Number(MODEL_SEED), endOnFailure: MODEL_SHRINKS === 'no' }
}
