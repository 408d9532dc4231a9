import { readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { ROOT } from './root.ts'
import { runCommand } from './run-command.ts'

/** What the run types, and where a reader is told the same again. */
const TYPED = { file: 'README.md', chapter: '## Deploy' }
const AGAIN = { file: 'docs/deploy.md', chapter: '## The sample' }

/**
 * The one command that begins so, as the README's deploy chapter has it, word by word. Throws if there is none, or another
 * in `docs/deploy.md`.
 */
export async function documentedCommand(start: string): Promise<string> {
  const command = await commandOf(TYPED, start)
  if ((await commandOf(AGAIN, start)) === command) return command
  throw new Error(`${TYPED.file} and ${AGAIN.file} say different things: ${command}`)
}

async function commandOf({ file, chapter }: typeof TYPED, start: string): Promise<string> {
  const text = await readFile(join(ROOT, file), 'utf8')
  const block = text.split(`\n${chapter}\n`)[1]?.match(/```sh\n(.*?)```/s)?.[1] ?? ''
  const commands = block
    .replaceAll(/\\\n\s*/g, '')
    .replaceAll(/ +# .*$/gm, '')
    .split('\n')
  const found = commands.filter((command) => command.startsWith(start))
  const [command] = found
  if (command !== undefined && found.length === 1) return command
  throw new Error(`${file} should have one command "${start} …" under "${chapter}"; it has ${found.length}`)
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
