import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { OutboxError } from '../errors.ts'

export type Engine = {
  readonly endpoint: string
  /** Runs without us: what is created in it must be deleted again. */
  readonly external: boolean
  readonly stop: () => Promise<void>
}

const HOST = '127.0.0.1'
const PACKAGE = '@dynoxide/linux-x64'
const START_TRIES = 3
const READY_MS = 10_000
const ANSWER_MS = 5000

/**
 * The shell waits for the engine, and kills it as soon as its own standard input closes: on `stop`, and when this process
 * dies, however it dies.
 */
const SUPERVISE = 'exec 3<&0; "$@" </dev/null & p=$!; (cat <&3 >/dev/null; kill -9 $p 2>/dev/null) & wait $p'

/**
 * Starts an in-memory DynamoDB engine on a free port of 127.0.0.1. With an endpoint (option or `DYNAMODB_ENDPOINT`) that
 * one is used and nothing is started. Throws `ENGINE_MISSING` where there is neither, or nothing answers there.
 */
export async function startDynamoEngine(endpoint = process.env.DYNAMODB_ENDPOINT): Promise<Engine> {
  if (endpoint) return externalEngine(endpoint)
  const binary = findBinary()
  if (binary === undefined) throw missingEngine()
  for (let tries = 1; ; tries += 1) {
    // Somebody else may take the port between our look and the engine's start; then the engine ends at once.
    const started = await start(binary, await freePort())
    if (started !== undefined) return started
    if (tries === START_TRIES) {
      throw new OutboxError(
        'ENGINE_MISSING',
        `The DynamoDB engine did not start in ${START_TRIES} tries. Run ${binary} by hand to see why.`,
      )
    }
  }
}

async function externalEngine(endpoint: string): Promise<Engine> {
  try {
    // Any answer will do: a bare GET is none of DynamoDB's actions.
    await fetch(endpoint, { signal: AbortSignal.timeout(ANSWER_MS) })
  } catch (cause) {
    throw new OutboxError(
      'ENGINE_MISSING',
      'Nothing answers at the DynamoDB endpoint given (dynamoEndpoint, or DYNAMODB_ENDPOINT). Start one there, give a URL such as ' +
        'http://127.0.0.1:8000, or leave it out for the embedded engine.',
      { cause },
    )
  }
  return { endpoint, external: true, stop: async () => {} }
}

async function start(binary: string, port: number): Promise<Engine | undefined> {
  const command = [binary, 'serve', '--host', HOST, '--port', String(port)]
  const child = spawn('sh', ['-c', SUPERVISE, 'sh', ...command], { stdio: ['pipe', 'ignore', 'ignore'] })
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  const endpoint = `http://${HOST}:${port}`
  const stop = async (): Promise<void> => {
    child.stdin.end()
    await gone
  }
  if (await answers(endpoint, child)) return { endpoint, external: false, stop }
  await stop()
  return undefined
}

async function answers(endpoint: string, child: ChildProcess): Promise<boolean> {
  const giveUp = performance.now() + READY_MS
  while (child.exitCode === null && child.signalCode === null && performance.now() < giveUp) {
    const up = await fetch(endpoint, { signal: AbortSignal.timeout(1000) }).then(
      () => true,
      () => false,
    )
    if (up) {
      // An engine that could not bind has ended by now, and it was a stranger who answered.
      await delay(5)
      return child.exitCode === null
    }
    await delay(10)
  }
  return false
}

/**
 * The binary, looked for from the project that runs and from the running script, and beside this package as they see it
 * (some package managers give a package's own dependencies to nobody else).
 */
function findBinary(): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const bases = [`${process.cwd()}/`, process.argv[1] ?? ''].filter((base) => base.startsWith('/'))
  const packages = bases.map((base) => resolveFrom(base, 'dynamodb-outbox/testing'))
  return [...bases, ...packages.filter((found) => found !== undefined)]
    .map((base) => resolveFrom(base, `${PACKAGE}/dynoxide`))
    .find((found) => found !== undefined)
}

function resolveFrom(base: string, request: string): string | undefined {
  try {
    return createRequire(base).resolve(request)
  } catch {
    return undefined
  }
}

function missingEngine(): OutboxError {
  const here = `${process.platform} ${process.arch}`
  return new OutboxError(
    'ENGINE_MISSING',
    `No DynamoDB engine was found (this is ${here}). On Linux x64 install the optional dependency ${PACKAGE}; elsewhere start any DynamoDB, ` +
      'for example `docker run -p 127.0.0.1:8000:8000 amazon/dynamodb-local`, and set DYNAMODB_ENDPOINT=http://127.0.0.1:8000.',
  )
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, HOST, () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}
