import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { ROOT } from './root.ts'

export type Answer<Json> = { readonly code: number | null; readonly json: Json }

/**
 * Runs `dynamodb-outbox … --json` as an operator does: a process that knows nothing but the environment, and finds the
 * deployed sample by its SSM parameters. Throws with what it said if it did nothing (exit code 2) or printed no JSON.
 */
export async function runOutbox<Json>(...argv: readonly string[]): Promise<Answer<Json>> {
  const args = [join(ROOT, 'src/cli/bin.ts'), ...argv, '--json']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 180_000 })
  const read = (output: typeof child.stdout) => output.setEncoding('utf8').toArray()
  const [out, err, [code]] = await Promise.all([read(child.stdout), read(child.stderr), once(child, 'exit')])
  try {
    return { code, json: JSON.parse(out.join('')) as Json }
  } catch {
    throw new Error(`dynamodb-outbox ${argv.join(' ')} ended with ${code}: ${err.join('')}${out.join('')}`)
  }
}
