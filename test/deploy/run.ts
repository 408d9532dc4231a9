import { rmSync } from 'node:fs'
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect, parseArgs } from 'node:util'
import { createSample } from './sample.ts'
import { runSteps } from './step.ts'
import { stepsOf } from './steps.ts'
import { openTarget, type Target } from './target.ts'
import { openWorld } from './world.ts'

/**
 * `npm run test:deploy [-- --install | --target aws]`: deploys the sample with the real CDK and works it through Lambda
 * Invoke and the SDK alone, a line per step. Exit 1 at the first step that fails, with what was seen. What the run started
 * or deployed is taken down in any case.
 *
 * Deploys to AWS_ENDPOINT_URL if it is set; with `--target aws` to the account and Region of the environment; else to an
 * emulator of its own on 127.0.0.1, which `--install` installs first.
 */

const SHOWN_LOG = 4000

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: { install: { type: 'boolean', default: false }, target: { type: 'string' } },
  })
  const started = performance.now()
  const folder = await mkdtemp(join(tmpdir(), 'outbox-deploy-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  let target: Target | undefined
  try {
    target = await openTarget({ install: values.install, target: values.target, folder })
    process.stdout.write(`deploying to ${target.name}\n`)
    await work(target, folder)
    process.stdout.write(`all passed in ${Math.round((performance.now() - started) / 1000)} s\n`)
    return true
  } catch (error) {
    process.stdout.write(`${inspect(error)}\n`)
    if (target?.log !== undefined) showLog(await readFile(target.log, 'utf8'))
    return false
  } finally {
    await target?.stop()
  }
}

function showLog(text: string): void {
  const refused = text.match(/^IAM refused .*$/gm) ?? []
  process.stdout.write(`${refused.join('\n')}\nits log ends:\n${text.slice(-SHOWN_LOG)}\n`)
}

async function work(target: Target, folder: string): Promise<void> {
  const sample = createSample(folder)
  try {
    await runSteps(openWorld(target, folder), stepsOf(sample))
  } catch (error) {
    // An emulator of the run's own goes as a whole.
    if (target.log === undefined) await sample.destroy().catch((failure) => process.stdout.write(`${failure}\n`))
    throw error
  } finally {
    await sample.close()
  }
}

// A stop from outside takes away what the run started on this machine as well: by exit handlers. Not a stack on AWS.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

process.exitCode = (await main()) ? 0 : 1
