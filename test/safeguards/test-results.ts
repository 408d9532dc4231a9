import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './patched-copy.ts'

export type TestResult = { readonly fullName: string; readonly status: string }

export type TestRun = {
  readonly files: readonly string[]
  /** Only tests with this in their title. */
  readonly title?: string
  /** End at the first test that fails. */
  readonly bail?: boolean
}

/** Runs vitest in a folder and reads its JSON report; a file that does not even load reports no test. */
export async function runTests(cwd: string, { files, title, bail = false }: TestRun): Promise<readonly TestResult[]> {
  const folder = await mkdtemp(join(tmpdir(), 'safeguard-report-'))
  const report = join(folder, 'report.json')
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const filter = title === undefined ? [] : ['-t', title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')]
  const args = [vitest, 'run', ...files, ...filter, ...(bail ? ['--bail=1'] : [])]
  const child = spawn(process.execPath, [...args, '--reporter=json', `--outputFile=${report}`], {
    cwd,
    stdio: 'ignore',
    env: { ...process.env, NO_COLOR: '1', MODEL_SHRINKS: 'no' },
  })
  await new Promise<void>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', () => resolve())
  })
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
    testResults: { assertionResults: TestResult[] }[]
  }
  await rm(folder, { recursive: true, force: true })
  return testResults.flatMap(({ assertionResults }) => assertionResults)
}

/** A contract suite runs one title several times: one failure is enough. */
export function statusOf(results: readonly TestResult[], title: string): string | undefined {
  const named = results.filter(({ fullName }) => fullName.includes(title))
  return (named.find(({ status }) => status === 'failed') ?? named[0])?.status
}
