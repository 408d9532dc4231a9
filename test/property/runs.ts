/**
 * The same runs each time, so that it is the change at hand that a failure tells of. More, or others:
 * `MODEL_RUNS=10 MODEL_SEED=7 npx vitest run test/property`.
 */
const { MODEL_RUNS = '1', MODEL_SEED = '1' } = process.env

/** How often a property is tried, and with which luck. */
export function runs(numRuns: number): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: numRuns * Number(MODEL_RUNS), seed: Number(MODEL_SEED) }
}
