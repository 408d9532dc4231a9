import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import Table from 'cli-table3'
import type { Safeguard } from './safeguard.ts'
import { SAFEGUARDS } from './safeguards.ts'

/**
 * `npm run safeguards [-- --json] [-- --only <part of a name>]`: removes each safeguard in a copy of the project and
 * shows that its test fails there. Exit 1 if a safeguard can be removed unnoticed, or if a patch no longer applies.
 */

const ROOT = new URL('../..', import.meta.url).pathname
const COPIED = ['src', 'functions', 'test', 'package.json', 'tsconfig.json', 'vitest.config.ts']

type Verdict = 'caught' | 'survived' | 'patch does not apply' | 'test not found' | 'test fails unpatched'

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { json: { type: 'boolean' }, only: { type: 'string' } } })
  const chosen = SAFEGUARDS.filter(({ name }) => name.includes(values.only ?? ''))
  const rows: { safeguard: Safeguard; verdict: Verdict }[] = []
  const broken = await failingUnpatched(chosen)
  for (const [index, safeguard] of chosen.entries()) {
    process.stderr.write(`[${index + 1}/${chosen.length}] without: ${safeguard.name} … `)
    const verdict = broken.has(safeguard) ? 'test fails unpatched' : await verdictWithout(safeguard)
    process.stderr.write(`${verdict}\n`)
    rows.push({ safeguard, verdict })
  }
  process.stdout.write(
    values.json
      ? `${JSON.stringify(rows.map(({ safeguard, verdict }) => ({ name: safeguard.name, verdict })))}\n`
      : table(rows),
  )
  process.exitCode = rows.length > 0 && rows.every(({ verdict }) => verdict === 'caught') ? 0 : 1
}

/** One run of all named tests on the code as it is: a test that fails anyway would prove nothing. */
async function failingUnpatched(safeguards: readonly Safeguard[]): Promise<Set<Safeguard>> {
  process.stderr.write('Running the named tests on the code as it is … ')
  const files = [...new Set(safeguards.map(({ test }) => test.file))]
  const results = await runTests(ROOT, files)
  process.stderr.write('done\n')
  return new Set(safeguards.filter(({ test }) => statusOf(results, test.title) !== 'passed'))
}

async function verdictWithout({ file, find, replace, test }: Safeguard): Promise<Verdict> {
  const copy = await mkdtemp(join(tmpdir(), 'safeguard-'))
  try {
    await Promise.all(COPIED.map((name) => cp(join(ROOT, name), join(copy, name), { recursive: true })))
    await symlink(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
    const source = await readFile(join(copy, file), 'utf8')
    if (source.split(find).length !== 2) return 'patch does not apply'
    await writeFile(
      join(copy, file),
      source.replace(find, () => replace),
    )
    const status = statusOf(await runTests(copy, [test.file], test.title), test.title)
    if (status === 'failed') return 'caught'
    return status === 'passed' ? 'survived' : 'test not found'
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

type TestResult = { readonly fullName: string; readonly status: string }

/** Runs vitest and reads its JSON report; a file that does not even load reports no test. */
async function runTests(cwd: string, files: readonly string[], title?: string): Promise<readonly TestResult[]> {
  const report = join(await mkdtemp(join(tmpdir(), 'safeguard-report-')), 'report.json')
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const filter = title === undefined ? [] : ['-t', title.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')]
  const args = [vitest, 'run', ...files, ...filter, '--reporter=json', `--outputFile=${report}`]
  await new Promise<void>((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd, stdio: 'ignore', env: { ...process.env, NO_COLOR: '1' } })
    child.once('error', reject)
    child.once('exit', () => resolve())
  })
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
    testResults: { assertionResults: TestResult[] }[]
  }
  await rm(join(report, '..'), { recursive: true, force: true })
  return testResults.flatMap(({ assertionResults }) => assertionResults)
}

/** A contract suite runs one title several times: one failure is enough. */
function statusOf(results: readonly TestResult[], title: string): string | undefined {
  const named = results.filter(({ fullName }) => fullName.includes(title))
  return (named.find(({ status }) => status === 'failed') ?? named[0])?.status
}

function table(rows: readonly { safeguard: Safeguard; verdict: Verdict }[]): string {
  const out = new Table({
    head: ['without', 'verdict', 'caught by'],
    style: { head: [], border: [] },
    colWidths: [44, 12, 60],
    wordWrap: true,
  })
  for (const { safeguard, verdict } of rows) out.push([safeguard.name, verdict, safeguard.test.title])
  const survivors = rows.filter(({ verdict }) => verdict !== 'caught').length
  const verdict =
    survivors === 0
      ? `All ${rows.length} safeguards are held by a test.`
      : `${survivors} of ${rows.length} safeguards are NOT held by a test.`
  return `${out.toString()}\n${verdict}\n`
}

await main()
