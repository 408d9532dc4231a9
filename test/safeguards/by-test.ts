import { inPatchedCopy, ROOT } from './patched-copy.ts'
import type { Safeguard } from './safeguard.ts'
import { runTests, statusOf } from './test-results.ts'

export type Verdict = 'caught' | 'survived' | 'patch does not apply' | 'test not found' | 'test fails unpatched'

/** Whether the test that a safeguard names fails without it. */
export async function verdictByTest(safeguard: Safeguard): Promise<Verdict> {
  const { file, title } = safeguard.test
  const results = await inPatchedCopy(safeguard, (copy) => runTests(copy, { files: [file], title }))
  if (results === undefined) return 'patch does not apply'
  const status = statusOf(results, title)
  if (status === 'failed') return 'caught'
  return status === 'passed' ? 'survived' : 'test not found'
}

/** One run of all named tests on the code as it is: a test that fails anyway would prove nothing. */
export async function failingUnpatched(safeguards: readonly Safeguard[]): Promise<ReadonlySet<Safeguard>> {
  const files = [...new Set(safeguards.map(({ test }) => test.file))]
  const results = await runTests(ROOT, { files })
  return new Set(safeguards.filter(({ test }) => statusOf(results, test.title) !== 'passed'))
}
