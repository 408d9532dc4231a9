import { readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { ROOT } from './root.ts'
import { runCommand } from './run-command.ts'

const FILE = 'docs/deploy.md'
const CHAPTER = '## The sample'

/** The commands that a reader is told to type, in order: what the run deploys with, word by word. */
export async function documentedCommands(): Promise<readonly string[]> {
  const text = await readFile(join(ROOT, FILE), 'utf8')
  const block = text.split(`${CHAPTER}\n`)[1]?.match(/```sh\n(.*?)```/s)?.[1]
  if (block === undefined) throw new Error(`${FILE} has no commands under "${CHAPTER}"`)
  return block
    .replaceAll(/\\\n\s*/g, '')
    .trimEnd()
    .split('\n')
}

/** The one documented command that begins so. */
export async function documentedCommand(start: string): Promise<string> {
  const found = (await documentedCommands()).filter((command) => command.startsWith(start))
  const [command] = found
  if (command === undefined || found.length > 1)
    throw new Error(`${FILE} should have one command "${start} …" under "${CHAPTER}"; it has ${found.length}`)
  return command
}

/** Types a command into a shell in the repository. `folder`: for what the CDK keeps for itself. */
export function type(command: string, folder: string): Promise<string> {
  return runCommand('bash', ['-c', command], { cwd: ROOT, env: cdkEnvironment(folder) })
}

/** This Node first, for the commands of `npx`. The CDK's command remembers accounts by access key: it forgets after the run. */
export function cdkEnvironment(folder: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    CI: 'true',
    CDK_HOME: join(folder, 'cdk-home'),
    CDK_DISABLE_CLI_TELEMETRY: 'true',
  }
}
