import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { eventually } from '../eventually.ts'
import { PYTHON } from './install.ts'

const REGION = 'eu-central-1'
const ACCOUNT = '000000000000'

/** For any emulator: what the AWS SDK asks for, and nothing that is worth anything. */
export const EMULATOR_DEFAULTS = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: REGION,
  AWS_DEFAULT_REGION: REGION,
  AWS_EC2_METADATA_DISABLED: 'true',
} as const

export type Emulator = {
  readonly endpoint: string
  /** Path of the certificate to trust. */
  readonly certificate: string
  readonly log: string
  /** What others need in their environment to use it. */
  readonly env: Readonly<Record<string, string>>
  readonly stop: () => Promise<void>
}

/**
 * Starts MiniStack on a free port of 127.0.0.1, with all its files in `folder`. It speaks TLS and evaluates IAM policies, so
 * that a missing permission and the TLS-only queue policies are seen. Functions run on the Node that runs this.
 */
export async function startEmulator(folder: string): Promise<Emulator> {
  const port = await freePort()
  const home = join(folder, 'ministack')
  await mkdir(home, { recursive: true })
  const log = join(home, 'ministack.log')
  const output = openSync(log, 'a')
  // A process group of its own: the functions' processes end with it.
  const child = spawn(PYTHON, [join(import.meta.dirname, 'start.py')], {
    cwd: home,
    env: environment(home, port),
    stdio: ['ignore', output, output],
    detached: true,
  })
  closeSync(output)
  const killAll = (): void => signal(child, 'SIGKILL')
  process.once('exit', killAll)
  const stop = async (): Promise<void> => {
    process.removeListener('exit', killAll)
    await end(child)
  }
  if (!(await isReady(child, log))) {
    await stop()
    throw new Error(`MiniStack did not start:\n${await readFile(log, 'utf8')}`)
  }
  const endpoint = `https://127.0.0.1:${port}`
  const certificate = join(home, 'ministack-tls/server.crt')
  return { endpoint, certificate, log, env: clientEnvironment(endpoint, certificate), stop }
}

function clientEnvironment(endpoint: string, certificate: string): Record<string, string> {
  return {
    ...EMULATOR_DEFAULTS,
    AWS_ENDPOINT_URL: endpoint,
    AWS_CA_BUNDLE: certificate,
    NODE_EXTRA_CA_CERTS: certificate,
    CDK_DEFAULT_ACCOUNT: ACCOUNT,
    CDK_DEFAULT_REGION: REGION,
  }
}

function environment(home: string, port: number): NodeJS.ProcessEnv {
  return {
    PATH: [dirname(process.execPath), process.env['PATH']].join(delimiter),
    HOME: home,
    TMPDIR: home,
    STATE_DIR: join(home, 'state'),
    BIND_HOST: '127.0.0.1',
    MINISTACK_HOST: '127.0.0.1',
    GATEWAY_PORT: String(port),
    MINISTACK_REGION: REGION,
    MINISTACK_ACCOUNT_ID: ACCOUNT,
    LAMBDA_EXECUTOR: 'local',
    AUTH: 'true',
    USE_SSL: '1',
    IOT_MTLS_ENABLED: '0',
    SFTP_ENABLED: '0',
  }
}

/** False if it has ended instead. Throws after a minute. */
async function isReady(child: ChildProcess, log: string): Promise<boolean> {
  const state = await eventually('MiniStack to listen', async () => {
    if (child.exitCode !== null) return 'ended'
    return (await readFile(log, 'utf8')).includes('Running on https://127.0.0.1:') && 'listens'
  })
  return state === 'listens'
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  signal(child, 'SIGKILL')
  await ended
}

/** To the whole group. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name)
  } catch {
    // It has ended already.
  }
}
