import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ROOT } from './root.ts'

export type Answer<Json> = { readonly code: number | null; readonly json: Json }

/** What a process of the command came to. */
export type Ended = {
  readonly code: number | null
  readonly killed: boolean
  readonly out: string
  readonly err: string
}

export type KillPoint = {
  /** Which request of the process, counted from 1. */
  readonly request: number
  /** Before it is sent, or once it was done and before the process hears of that. */
  readonly moment: 'before' | 'after'
}

const KILLER = join(import.meta.dirname, 'operate/kill-at-request.ts')

/**
 * Runs `dynamodb-outbox … --json` as an operator does: a process that knows nothing but the environment, and finds the
 * deployed sample by its SSM parameters. Throws with what it said if it did nothing (exit code 2) or printed no JSON.
 */
export async function runOutbox<Json>(...argv: readonly string[]): Promise<Answer<Json>> {
  const { code, out, err } = await runProcess([...argv, '--json'])
  try {
    return { code, json: JSON.parse(out) as Json }
  } catch {
    throw new Error(`dynamodb-outbox ${argv.join(' ')} ended with ${code}: ${err}${out}`)
  }
}

/** Runs it until it dies by SIGKILL at a request. Throws if it ends by itself. */
export async function runKilled({ request, moment }: KillPoint, ...argv: readonly string[]): Promise<void> {
  const env = { ...process.env, KILL_AT_REQUEST: `${moment} ${request}` }
  const { killed, code, out, err } = await runProcess(argv, { env, node: ['--import', KILLER] })
  if (killed) return
  throw new Error(`dynamodb-outbox ${argv.join(' ')} ended with ${code} before its ${request}th request: ${err}${out}`)
}

/** `node`: options of Node's own. `env`: in place of the environment. */
export async function runProcess(
  argv: readonly string[],
  { env = process.env, node = [] }: { readonly env?: NodeJS.ProcessEnv; readonly node?: readonly string[] } = {},
): Promise<Ended> {
  const args = [...node, join(ROOT, 'src/cli/bin.ts'), ...argv]
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 180_000 })
  const read = (output: typeof child.stdout) => output.setEncoding('utf8').toArray()
  const [out, err, [code, signal]] = await Promise.all([read(child.stdout), read(child.stderr), once(child, 'exit')])
  return { code, killed: signal === 'SIGKILL', out: out.join(''), err: err.join('') }
}
