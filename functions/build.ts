import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Bundle, bundle, CLIENTS_ALONE } from './bundle.ts'

/**
 * `node functions/build.ts [--out dist/functions] [--quiet]`: bundles relay and sweeper to `<out>/<name>/index.mjs`, AWS SDK
 * included, so that a deployment needs nothing else of ours. Prints each size, and fails if the relay outgrows its budget.
 */

const ROOT = join(import.meta.dirname, '..')
const FUNCTIONS = ['relay', 'sweeper'] as const
/** How much larger, gzipped, the relay may be than the AWS clients that it uses, alone. */
const BUDGET_BYTES = 30 * 1024

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { out: { type: 'string' }, quiet: { type: 'boolean' } } })
  const out = values.out === undefined ? join(ROOT, 'dist/functions') : resolve(values.out)
  const say = values.quiet === true ? () => {} : (line: string) => void process.stdout.write(`${line}\n`)
  const bundles = await Promise.all(
    FUNCTIONS.map((name) => bundle({ entryPoints: [join(ROOT, `functions/${name}.ts`)] })),
  )
  for (const [index, name] of FUNCTIONS.entries()) {
    const { code, gzip } = bundles[index] as Bundle
    await emit(join(out, name), code)
    say(`${name}/index.mjs: ${kilobytes(code.length)}, gzip ${kilobytes(gzip)}`)
  }
  const alone = await bundle({ stdin: { contents: CLIENTS_ALONE, resolveDir: ROOT } })
  const [relay] = bundles as [Bundle]
  say(`relay: ${kilobytes(relay.gzip - alone.gzip)} gzip above its AWS clients alone (${kilobytes(alone.gzip)})`)
  check(relay, alone)
}

/** Whole or not at all, for a synthesis may be reading it. */
async function emit(folder: string, code: Uint8Array): Promise<void> {
  await mkdir(folder, { recursive: true })
  const unfinished = join(folder, `${process.pid}.tmp`)
  await writeFile(unfinished, code)
  await rename(unfinished, join(folder, 'index.mjs'))
}

function check(relay: Bundle, alone: Bundle): void {
  if (relay.commands !== alone.commands) {
    throw new Error(`CLIENTS_ALONE must list the relay's commands:\n${relay.commands}\n${alone.commands}`)
  }
  const over = relay.gzip - alone.gzip - BUDGET_BYTES
  if (over > 0) throw new Error(`The relay is ${over} bytes over its budget of ${kilobytes(BUDGET_BYTES)}.`)
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} kB`
}

await main()
