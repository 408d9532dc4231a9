import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { OutboxSystem } from '../../src/ops/system.ts'
import { type KillPoint, openKillingProxy } from './killing-proxy.ts'

const BIN = join(import.meta.dirname, '../../src/cli/bin.ts')
const REQUIRE = "import{createRequire as __r}from'node:module';const require=__r(import.meta.url);"

export type Ended = {
  readonly code: number | null
  readonly killed: boolean
  readonly out: string
  readonly err: string
}

/**
 * The command as a process of its own, which a kill point ends with SIGKILL. Its Node loads one file: bundled here, since
 * the built one may be older than what is tested.
 */
export async function openCommandProcess(
  system: OutboxSystem,
  urls: { readonly dynamo: string; readonly sqs: string },
) {
  const folder = await mkdtemp(join(tmpdir(), 'outbox-command-'))
  const file = join(folder, 'cli.mjs')
  await build({
    entryPoints: [BIN],
    outfile: file,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    define: { __VERSION__: '"1.2.3"' },
    banner: { js: REQUIRE },
    external: ['fauxqs', '@dynoxide/*'],
    logLevel: 'error',
  })
  const proxy = await openKillingProxy(urls)
  const env = {
    ...process.env,
    AWS_ENDPOINT_URL: proxy.url,
    AWS_ENDPOINT_URL_DYNAMODB: proxy.url,
    AWS_ENDPOINT_URL_SQS: proxy.url,
    AWS_REGION: await system.dynamo.config.region(),
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  }
  // The SDK takes the host of a queue's URL for its endpoint.
  const through = (queueUrl: string) => `${proxy.url}/${queueUrl.split('/').at(-1)}`
  const where = [
    '--outbox-table',
    system.outboxTable,
    ...system.consumers.flatMap(({ name, ledgerTable, queueUrl, deadLetterQueueUrl }) => [
      '--consumer',
      `${name}=${ledgerTable},${through(queueUrl)},${through(deadLetterQueueUrl)}`,
    ]),
  ]
  let running: ChildProcess | undefined
  return {
    run: async (argv: readonly string[], point?: KillPoint): Promise<Ended> => {
      const child = spawn(process.execPath, [file, ...argv, ...where], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      running = child
      proxy.arm(point, () => child.kill('SIGKILL'))
      const read = (output: typeof child.stdout) => output.setEncoding('utf8').toArray()
      const [out, err, [code, signal]] = await Promise.all([
        read(child.stdout),
        read(child.stderr),
        once(child, 'exit'),
      ])
      return { code, killed: signal === 'SIGKILL', out: out.join(''), err: err.join('') }
    },
    /** Requests of the last run. */
    asked: proxy.asked,
    close: async (): Promise<void> => {
      running?.kill('SIGKILL')
      await proxy.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export type CommandProcess = Awaited<ReturnType<typeof openCommandProcess>>
