import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * `npm run test:pack`: installs the packed tarball with the peers it needs in an empty ECMAScript module project and in an
 * empty CommonJS one. In each, a program of under 30 lines type-checks against the shipped declarations, with no package
 * that only our own tests have, and then writes an event and handles it on the embedded engines.
 */

const ROOT = join(import.meta.dirname, '../..')
const PEERS = ['@aws-sdk/client-dynamodb', '@aws-sdk/lib-dynamodb', '@aws-sdk/client-sqs', 'fauxqs', '@types/node']
const SAYS = 'handled 1 event'
const run = promisify(execFile)

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'outbox-pack-'))
  try {
    const packages = [await pack(folder), ...(await peers())]
    for (const project of ['esm', 'cjs']) await tryProject(join(folder, project), { project, packages })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Path of the tarball. Packing builds first. */
async function pack(folder: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: ROOT })
  const [tarball] = JSON.parse(stdout) as { filename: string; size: number }[]
  if (tarball === undefined) throw new Error('npm pack named no tarball')
  say(`packed ${tarball.filename}, ${Math.ceil(tarball.size / 1024)} KB`)
  return join(folder, tarball.filename)
}

/** The peers in the versions the tests run with. */
async function peers(): Promise<string[]> {
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    devDependencies: Record<string, string>
  }
  return PEERS.map((name) => `${name}@${devDependencies[name]}`)
}

type Trial = { readonly project: string; readonly packages: readonly string[] }

async function tryProject(folder: string, { project, packages }: Trial): Promise<void> {
  await cp(join(import.meta.dirname, project), folder, { recursive: true })
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...packages], { cwd: folder })
  say(`${project}: installed`)
  await typeCheck(folder)
  say(`${project}: declarations type-check`)
  const { stdout } = await run(process.execPath, [project === 'esm' ? 'app.ts' : 'app.js'], { cwd: folder })
  if (!stdout.includes(SAYS)) throw new Error(`${project}: the program should have said "${SAYS}", it said: ${stdout}`)
  say(`${project}: ${SAYS}`)
}

/** Library checks are on, so that a missing type in our declarations shows; what other packages' declarations do does not count. */
async function typeCheck(folder: string): Promise<void> {
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  const output = await run(process.execPath, [tsc, '-p', folder, '--pretty', 'false'], { cwd: folder }).then(
    ({ stdout }) => stdout,
    (error: { stdout?: string }) => error.stdout ?? String(error),
  )
  const ours = output.split('\n').filter((line) => /^(app\.|node_modules\/dynamodb-outbox\/)|^error /.test(line))
  if (ours.length > 0) throw new Error(`Type errors:\n${ours.join('\n')}`)
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

await main()
