import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import { eventually } from '../eventually.ts'
import { PYTHON } from './install.ts'

export const EMULATOR_REGION = 'eu-central-1'
export const EMULATOR_ACCOUNT = '000000000000'

export type Emulator = {
  readonly endpoint: string
  /** Path of the certificate to trust. */
  readonly certificate: string
  readonly log: string
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
  try {
    await eventually('MiniStack to start', () => isReady(child, log), { seconds: 60 })
  } catch (error) {
    await stop()
    throw new Error(`MiniStack did not start:\n${await readFile(log, 'utf8')}`, { cause: error })
  }
  return {
    endpoint: `https://127.0.0.1:${port}`,
    certificate: join(home, 'ministack-tls/server.crt'),
    log,
    stop,
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
    MINISTACK_REGION: EMULATOR_REGION,
    MINISTACK_ACCOUNT_ID: EMULATOR_ACCOUNT,
    LAMBDA_EXECUTOR: 'local',
    AUTH: 'true',
    USE_SSL: '1',
    IOT_MTLS_ENABLED: '0',
    SFTP_ENABLED: '0',
  }
}

async function isReady(child: ChildProcess, log: string): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`)
  return (await readFile(log, 'utf8')).includes('Running on https://127.0.0.1:')
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
