import { spawn } from 'node:child_process'

export type CommandOptions = {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Default 300. */
  readonly seconds?: number
}

const SHOWN_LINES = 60

/**
 * Runs a command without a shell and answers with what it wrote to both outputs. Throws with the end of it if the command
 * fails or takes too long.
 */
export async function runCommand(
  command: string,
  args: readonly string[],
  { cwd, env, seconds = 300 }: CommandOptions,
): Promise<string> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: seconds * 1000 })
  const chunks: Buffer[] = []
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => chunks.push(chunk))
  const { promise: ended, resolve, reject } = Promise.withResolvers<number | NodeJS.Signals | null>()
  child.once('error', reject)
  child.once('close', (code, signal) => resolve(signal ?? code))
  const outcome = await ended
  const text = Buffer.concat(chunks).toString()
  if (outcome === 0) return text
  const end = text.trimEnd().split('\n').slice(-SHOWN_LINES).join('\n')
  throw new Error(`${[command, ...args].join(' ')} ended with ${outcome}:\n${end}`)
}
