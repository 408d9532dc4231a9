import { readFileSync } from 'node:fs'
import { runCli } from './run-cli.ts'

/** The command: what the outside is, and nothing else. `__VERSION__` is put there by the build. */
declare const __VERSION__: string | undefined

const interrupted = new AbortController()
process.once('SIGINT', () => {
  // A second Ctrl-C ends it at once, which is safe too.
  process.stderr.write('Ending after the request at hand …\n')
  interrupted.abort()
})
// A reader that has enough (`| head`) is no error.
process.stdout.on('error', () => process.exit(0))

process.exitCode = await runCli(
  process.argv.slice(2),
  {
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    env: process.env,
    isTerminal: process.stderr.isTTY === true,
    columns: process.stdout.columns ?? 80,
    signal: interrupted.signal,
  },
  version(),
)

function version(): string {
  if (typeof __VERSION__ === 'string') return __VERSION__
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
