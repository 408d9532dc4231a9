import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { installEmulator, PYTHON } from './emulator/install.ts'
import { EMULATOR_DEFAULTS, startEmulator } from './emulator/start.ts'

/** What is deployed to. */
export type Target = {
  readonly name: string
  /** Not AWS. */
  readonly isEmulator: boolean
  /** What the AWS SDK and the CDK of every process of the run find in their environment. */
  readonly env: Readonly<Record<string, string>>
  /** Log of an emulator that was started here. */
  readonly log?: string
  readonly stop: () => Promise<void>
}

export type TargetChoice = {
  /** `aws`: the account and Region of the environment. Default: `AWS_ENDPOINT_URL`, else an emulator of its own. */
  readonly target: string | undefined
  /** Makes the emulator's virtual environment if it is missing. */
  readonly install: boolean
  /** Of the run, for whatever the target writes. */
  readonly folder: string
}

/** Opens what the arguments and the environment name, and lets this process's SDK find it. */
export async function openTarget(choice: TargetChoice): Promise<Target> {
  const target = await choose(choice)
  Object.assign(process.env, target.env)
  return target
}

async function choose({ target, install, folder }: TargetChoice): Promise<Target> {
  const endpoint = process.env['AWS_ENDPOINT_URL']
  if (target === 'aws') {
    if (endpoint) throw new Error('--target aws, but AWS_ENDPOINT_URL names another endpoint: unset it.')
    return { name: 'AWS', isEmulator: false, env: {}, stop: async () => {} }
  }
  if (target !== undefined) throw new Error(`--target ${target}: only aws is known.`)
  if (endpoint) return { name: endpoint, isEmulator: true, env: withDefaults(process.env), stop: async () => {} }
  if (install) process.stdout.write(`${await installEmulator()}\n`)
  if (!existsSync(PYTHON))
    throw new Error('Nothing to deploy to: add --install, or set AWS_ENDPOINT_URL, or say --target aws.')
  return startOwn(folder)
}

function withDefaults(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(Object.entries(EMULATOR_DEFAULTS).map(([name, value]) => [name, env[name] ?? value]))
}

async function startOwn(folder: string): Promise<Target> {
  const { endpoint, certificate, ...emulator } = await startEmulator(folder)
  setDefaultCACertificates([...getCACertificates('default'), await readFile(certificate, 'utf8')])
  return { name: `MiniStack at ${endpoint}`, isEmulator: true, ...emulator }
}
