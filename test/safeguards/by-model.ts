import { inPatchedCopy, ROOT } from './patched-copy.ts'
import type { Safeguard } from './safeguard.ts'
import { runTests } from './test-results.ts'

/** Of the whole, and of what the whole has not: the EventBridge bus, and the functions' own runtime. */
const MODEL = ['model', 'bus/bus', 'function/function'].map((name) => `test/property/model/${name}.property.test.ts`)

/** The model test that fails without a safeguard; undefined if none does. */
export async function caughtByModel(safeguard: Safeguard): Promise<string | undefined> {
  const results = await inPatchedCopy(safeguard, (copy) => runTests(copy, { files: MODEL, bail: true }))
  return results?.find(({ status }) => status === 'failed')?.fullName
}

/** Throws if the model fails as it is: then it would prove nothing. */
export async function checkModel(): Promise<void> {
  const results = await runTests(ROOT, { files: MODEL })
  const failed = results.filter(({ status }) => status === 'failed')
  if (results.length === 0 || failed.length > 0)
    throw new Error(`The model tests do not pass on the code as it is: ${failed.length} of ${results.length} fail.`)
}
