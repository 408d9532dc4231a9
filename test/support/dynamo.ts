import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { freePort } from './free-port.ts'

export type TestDynamo = {
  readonly endpoint: string
  readonly client: DynamoDBClient
  /** A further client of the same engine, for example to add faults to. Ends with the engine. */
  readonly newClient: () => DynamoDBClient
  /** A table name that no other test uses. */
  readonly tableName: (hint: string) => string
  readonly stop: () => Promise<void>
}

/**
 * DynamoDB for a test file: `DYNAMODB_ENDPOINT` if it is set, else the embedded engine in memory on a free port of
 * 127.0.0.1. Table names are unique, so that test files can share an engine.
 */
export async function startDynamo(): Promise<TestDynamo> {
  const given = process.env.DYNAMODB_ENDPOINT
  const engine = given === undefined ? await startEngine() : undefined
  const endpoint = given ?? `http://127.0.0.1:${engine?.port}`
  const clients: DynamoDBClient[] = []
  const newClient = () => {
    const client = createClient(endpoint)
    clients.push(client)
    return client
  }
  const client = newClient()
  await waitUntilReady(client, engine?.child)
  const run = `${process.pid}-${Date.now().toString(36)}`
  let tables = 0
  return {
    endpoint,
    client,
    newClient,
    tableName: (hint) => `${hint}-${run}-${++tables}`,
    stop: async () => {
      for (const one of clients) one.destroy()
      if (engine !== undefined) await end(engine.child)
    },
  }
}

function createClient(endpoint: string): DynamoDBClient {
  return new DynamoDBClient({
    endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  })
}

async function startEngine(): Promise<{ readonly port: number; readonly child: ChildProcess }> {
  const manifest = createRequire(import.meta.url).resolve('@dynoxide/linux-x64/package.json')
  const port = await freePort()
  const child = spawn(join(dirname(manifest), 'dynoxide'), ['serve', '--host', '127.0.0.1', '--port', String(port)], {
    stdio: 'ignore',
  })
  // A test process that ends early takes its engine with it.
  process.once('exit', () => child.kill('SIGKILL'))
  return { port, child }
}

async function waitUntilReady(client: DynamoDBClient, child: ChildProcess | undefined): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await client.send(new ListTablesCommand({ Limit: 1 }))
      return
    } catch (error) {
      if (tries >= 200 || (child !== undefined && child.exitCode !== null)) throw error
      await new Promise((resolve) => setTimeout(resolve, 25))
    }
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await ended
}
