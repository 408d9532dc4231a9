import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from './run-command.ts'

export const ROOT = join(import.meta.dirname, '../..')
const CDK = join(ROOT, 'node_modules/aws-cdk/bin/cdk')

/** Outputs of a stack, by name. */
export type Outputs = Readonly<Record<string, string>>

export type CdkApp = {
  /** Where its `cdk.json` is. */
  readonly cwd: string
  /** For its output and the CLI's own files. */
  readonly folder: string
  readonly stack: string
  readonly context?: Readonly<Record<string, string>>
}

/** Of the account and Region of the environment. Where their names are known, no app is asked for them. */
export async function bootstrap({ folder }: { readonly folder: string }): Promise<void> {
  const account = process.env['CDK_DEFAULT_ACCOUNT']
  const known = account === undefined ? undefined : `aws://${account}/${process.env['CDK_DEFAULT_REGION']}`
  if (known === undefined) await cdk(['bootstrap'], { cwd: ROOT, folder })
  else await cdk(['bootstrap', known], { cwd: folder, folder })
}

/** Deploys the stack and answers with its outputs. */
export async function deploy(app: CdkApp): Promise<Outputs> {
  const file = join(app.folder, `${app.stack}-outputs.json`)
  await cdk(['deploy', app.stack, '--require-approval', 'never', '--outputs-file', file, ...contextArgs(app)], app)
  const outputs = JSON.parse(await readFile(file, 'utf8')) as Record<string, Outputs>
  return outputs[app.stack] ?? {}
}

export async function destroy(app: CdkApp): Promise<void> {
  await cdk(['destroy', app.stack, '--force', ...contextArgs(app)], app)
}

export async function synth(app: CdkApp): Promise<void> {
  await cdk(['synth', '--quiet', ...contextArgs(app)], app)
}

function contextArgs({ context = {} }: CdkApp): string[] {
  return Object.entries(context).flatMap(([name, value]) => ['--context', `${name}=${value}`])
}

function cdk(args: readonly string[], { cwd, folder }: Pick<CdkApp, 'cwd' | 'folder'>): Promise<string> {
  return runCommand(process.execPath, [CDK, ...args, '--output', join(folder, 'cdk.out'), '--no-notices'], {
    cwd,
    env: cdkEnvironment(folder),
  })
}

/** The CLI keeps its files in the run's folder: it remembers accounts by their access key. */
function cdkEnvironment(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, CI: 'true', CDK_HOME: join(folder, 'cdk-home'), CDK_DISABLE_CLI_TELEMETRY: 'true' }
}
