import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type AttributeValue, CreateTableCommand, QueryCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { pullShards } from '../../src/outbox/row.ts'
import { shardQuery } from '../../src/outbox/row-queries.ts'
import { createTableInput } from '../../src/outbox/table-input.ts'
import { LEDGER_TABLE, OUTBOX_TABLE } from '../../src/tables.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'

const GROUPS = 40
const OF_A_GROUP = 25
const UNORDERED = 1000
const EVENTS = GROUPS * OF_A_GROUP + UNORDERED
const WORKER = join(import.meta.dirname, 'fixtures/pull-worker.ts')

let dynamo: TestDynamo
beforeAll(async () => {
  dynamo = await startDynamo()
})
afterAll(() => {
  for (const child of children) child.kill('SIGKILL')
  return dynamo.stop()
})

const children: ChildProcess[] = []

type Worker = { readonly child: ChildProcess; readonly handled: () => number }

function startWorker(env: Readonly<Record<string, string>>): Worker {
  const child = spawn(process.execPath, [WORKER], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  let handled = 0
  child.stdout?.on('data', (dots: Buffer) => {
    handled += dots.length
  })
  return { child, handled: () => handled }
}

async function end({ child }: Worker, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
  const exit = once(child, 'exit')
  child.kill(signal)
  const [code] = await exit
  return code as number | null
}

/** The three tables, without a stream: nobody reads it, and the engine fills a table faster without. */
async function createThree() {
  const { stream: _, ...outboxTable } = OUTBOX_TABLE
  const names = {
    OUTBOX: dynamo.tableName('outbox'),
    LEDGER: dynamo.tableName('ledger'),
    EFFECTS: dynamo.tableName('effects'),
  }
  for (const [name, definition] of [
    [names.OUTBOX, outboxTable],
    [names.LEDGER, LEDGER_TABLE],
    [names.EFFECTS, LEDGER_TABLE],
  ] as const)
    await dynamo.client.send(new CreateTableCommand(createTableInput(name, definition)))
  return names
}

/** How many rows still wait, by the index, which is small once most are relayed. */
async function waiting(TableName: string): Promise<number> {
  const counts = pullShards('shop').map(async (shard) => {
    const { Count = 0 } = await dynamo.client.send(
      new QueryCommand({ ...shardQuery(TableName, shard), Select: 'COUNT' }),
    )
    return Count
  })
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0)
}

async function scan(TableName: string): Promise<Record<string, AttributeValue>[]> {
  const items: Record<string, AttributeValue>[] = []
  let ExclusiveStartKey: Record<string, AttributeValue> | undefined
  do {
    const page = await dynamo.client.send(
      new ScanCommand({ TableName, ...(ExclusiveStartKey && { ExclusiveStartKey }) }),
    )
    items.push(...(page.Items ?? []))
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey !== undefined)
  return items
}

it('two pull workers handle 2,000 events once, each group in order, though one is killed', async () => {
  const tables = await createThree()
  const outbox = createOutbox({ client: dynamo.client, tableName: tables.OUTBOX, delivery: 'pull' })
  const event = { source: 'shop', type: 'counted', data: {} }
  for (let n = 1; n <= OF_A_GROUP; n++) {
    const ordered = Array.from({ length: GROUPS }, (_, g) => ({ ...event, group: `g${g}`, sequence: n }))
    const keyed = Array.from({ length: UNORDERED / OF_A_GROUP }, (_, k) => ({ ...event, key: `k${n}-${k}` }))
    await outbox.transact({ events: [...ordered, ...keyed] })
  }
  const environment = { ...tables, ENDPOINT: dynamo.endpoint }
  const [first, second] = ['w-1', 'w-2'].map((WORKER) => startWorker({ ...environment, WORKER }))
  if (first === undefined || second === undefined) throw new Error('two workers')
  await waitFor(() => first.handled() >= 200 && second.handled() > 0, { timeoutMs: 60_000 })
  await end(first, 'SIGKILL')
  const before = second.handled()
  await waitFor(() => first.handled() + second.handled() > EVENTS - 50, { timeoutMs: 200_000 })
  await waitFor(async () => (await waiting(tables.OUTBOX)) === 0, { timeoutMs: 60_000 })
  expect(await end(second, 'SIGTERM')).toBe(0)

  const rows = await scan(tables.OUTBOX)
  expect(rows).toHaveLength(EVENTS)
  // The killed one held some, which the other took over.
  expect(rows.filter(({ claims }) => claims?.N === '2').length).toBeGreaterThan(0)
  expect(second.handled()).toBeGreaterThan(before)
  const effects = await scan(tables.EFFECTS)
  const times = (ordered: boolean) =>
    effects.filter(({ pk }) => pk?.S?.startsWith('g') === ordered).map(({ times }) => Number(times?.N))
  expect(times(true)).toEqual(Array(GROUPS).fill(OF_A_GROUP))
  expect(times(false)).toEqual(Array(UNORDERED).fill(1))
  const entries = await scan(tables.LEDGER)
  expect(entries.filter(({ status }) => status?.S === 'done')).toHaveLength(EVENTS)
  expect(entries.filter(({ failure }) => failure !== undefined)).toEqual([])
}, 300_000)
