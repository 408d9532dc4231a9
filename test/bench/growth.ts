import type { NewEvent } from '../../src/event/event.ts'
import type { Identity } from '../../src/event/identity.ts'
import { LEDGER_TABLE, OUTBOX_TABLE } from '../../src/tables.ts'
import { createClients } from './clients.ts'
import { DATA, identities, oldGroup, pendingItem, putItems, relayedItems, SOURCE, TYPE } from './event-rows.ts'
import type { Figure } from './figure.ts'
import { type FilledEngine, type Item, startFilledEngine } from './filled-engine.ts'
import type { Part, Say } from './part.ts'
import { compare, interleave, median, type Sample, type Side, spread } from './rounds.ts'
import { openSteps, type Step } from './steps.ts'
import { type Stub, startStub } from './stub.ts'

/** Rows stored in the outbox table, and as many in the ledger: 1×, 10× and 100×. */
const STORED = [1000, 10_000, 100_000] as const
/** Half of the stored rows lie in these: at 100× each has 5,000. */
const GROUPS = 10
const ROUNDS = { rounds: 7, warmUp: 2 }
/** Rows relayed and swept in one measurement: half unordered, half the next ones of the stored groups. */
const ROWS = 400
const ENQUEUED = 50
const CLAIMED = 200
const HOUR = 3_600_000

/**
 * What each step costs when 10 and 100 times as many rows are stored: requests and units, which are what AWS charges, and
 * CPU of our own process. The engine's own time is told apart: it is no DynamoDB, and may grow.
 */
export const measureGrowth: Part = async (say) => {
  say(`filling tables with ${STORED.join(', ')} rows`)
  const engine = await startFilledEngine(STORED.flatMap(tablesOf))
  const stub = await startStub()
  try {
    const sizes = STORED.map((stored) => openSize({ engine, stub }, stored))
    const growths: Growth[] = []
    for (const name of OPERATIONS) growths.push(await measureOperation(sizes, name, say))
    return figuresOf(growths)
  } finally {
    await Promise.all([engine.stop(), stub.stop()])
  }
}

/** In this order: what is enqueued stays pending, and comes last. */
const OPERATIONS = ['relay', 'sweep', 'claim', 'enqueue'] as const
type Operation = (typeof OPERATIONS)[number]

type Services = { readonly engine: FilledEngine; readonly stub: Stub }
type Size = Readonly<Record<Operation, () => Promise<() => Promise<Step>>>>

type Growth = {
  readonly name: Operation
  /** At 100× by that at 1×. */
  readonly requests: number
  readonly units: number
  readonly cpu: { readonly ours: number; readonly peer: number; readonly ratio: number; readonly spread: number }
  readonly time: number
  /** At 10× by that at 1×. */
  readonly tenfold: number
}

function tablesOf(stored: number) {
  return [
    { name: `outbox-${stored}`, definition: OUTBOX_TABLE, rows: relayedItems(stored, GROUPS) },
    { name: `ledger-${stored}`, definition: LEDGER_TABLE, rows: doneItems(stored) },
  ]
}

function* doneItems(count: number): Iterable<Item> {
  for (let n = 0; n < count; n += 1) {
    yield {
      pk: { S: `old-${n}` },
      sk: { S: 'bench/handle' },
      status: { S: 'done' },
      token: { S: '0123456789' },
      lease: { N: '1700000000000' },
      attempts: { N: '0' },
      due: { N: '0' },
      life: { N: '1700000000000' },
      expires: { N: '4000000000' },
    }
  }
}

/** Makes the work of each operation ready on the tables of one size. */
function openSize({ engine, stub }: Services, stored: number): Size {
  const tables = { outbox: `outbox-${stored}`, ledger: `ledger-${stored}` }
  const steps = openSteps(engine.endpoint, stub, tables)
  const { dynamo } = createClients('peer', { dynamo: engine.endpoint, sqs: stub.endpoint })
  let sequence = stored / 2 / GROUPS
  let rounds = 0

  const newIdentities = (): Identity[] => {
    rounds += 1
    const first = sequence + 1
    sequence += ROWS / 2 / GROUPS
    const ordered = Array.from({ length: ROWS / 2 }, (_, n) => ({
      source: SOURCE,
      group: oldGroup(n % GROUPS),
      sequence: first + Math.floor(n / GROUPS),
    }))
    return [...identities(ROWS / 2, `new-${rounds}`), ...ordered]
  }
  const newRows = async (created: number): Promise<Item[]> => {
    const rows = newIdentities().map((identity) => pendingItem(identity, created))
    await putItems(dynamo, tables.outbox, rows)
    return rows
  }
  return {
    relay: async () => {
      const rows = await newRows(Date.now())
      return () => steps.relay(rows)
    },
    sweep: async () => {
      await newRows(Date.now() - HOUR)
      return () => steps.sweep(ROWS)
    },
    claim: async () => {
      rounds += 1
      const rows = identities(CLAIMED, `claim-${rounds}`).map((identity) => pendingItem(identity, Date.now()))
      return () => steps.consume(rows, 'bench', () => {})
    },
    enqueue: async () => {
      const events = Array.from({ length: ENQUEUED }, (_, n): NewEvent => {
        return { source: SOURCE, group: oldGroup(n % GROUPS), sequence: 'auto', type: TYPE, data: DATA }
      })
      return () => steps.enqueue(events)
    },
  }
}

async function measureOperation(sizes: readonly Size[], name: Operation, say: Say): Promise<Growth> {
  say(`${name}: ${ROUNDS.rounds} rounds beside ${STORED.join(', ')} rows`)
  const steps = sizes.map((): Step[] => [])
  const sides = sizes.map(
    (size, n): Side => ({
      prepare: async () => {
        const work = await size[name]()
        return async () => steps[n]?.push(await work())
      },
    }),
  )
  const samples = await interleave(sides, ROUNDS)
  const of = (pick: (step: Step) => number) => steps.map((all) => median(all.map(pick)))
  const requests = of((step) => step.requests + step.sqsRequests)
  const units = of((step) => step.readUnits + step.writeUnits)
  const cpu = (n: number) => (samples[n] ?? []).map(({ cpuSeconds }: Sample) => cpuSeconds * 1000)
  const seconds = samples.map((side) => median(side.map((sample) => sample.seconds)))
  return {
    name,
    requests: growth(requests, 2),
    units: growth(units, 2),
    cpu: compare(cpu(2), cpu(0)),
    time: growth(seconds, 2),
    tenfold: Math.max(growth(requests, 1), growth(units, 1), compare(cpu(1), cpu(0)).ratio),
  }
}

function growth(values: readonly number[], n: number): number {
  return (values[n] ?? Number.NaN) / (values[0] ?? Number.NaN)
}

function figuresOf(growths: readonly Growth[]): Figure[] {
  const worst = (pick: (growth: Growth) => number) => Math.max(...growths.map(pick))
  const whole = Math.max(
    worst(({ requests }) => requests),
    worst(({ units }) => units),
    worst(({ cpu }) => cpu.ratio),
  )
  return [
    {
      key: 'growth100x',
      label: 'growth: worst of requests, units and CPU with 100 times the rows stored',
      value: whole,
      spread: spread(growths.map(({ cpu }) => cpu.ratio)),
      bound: { atMost: 1.2 },
    },
    { key: 'growth10x', label: 'growth: the same with 10 times the rows', value: worst(({ tenfold }) => tenfold) },
    {
      key: 'growthUnits100x',
      label: 'growth: worst of requests and units alone, 100 times the rows',
      value: Math.max(
        worst(({ requests }) => requests),
        worst(({ units }) => units),
      ),
    },
    ...growths.map(({ name, cpu }): Figure => {
      const { ratio, spread, ...sides } = cpu
      const key = `growthCpu${name[0]?.toUpperCase()}${name.slice(1)}`
      return { key, label: `growth: CPU of ${name} (peer: 1×)`, value: ratio, sides: { unit: 'ms', ...sides }, spread }
    }),
    {
      key: 'growthEngineTime100x',
      label: 'growth: worst of time, the engine’s with it',
      value: worst(({ time }) => time),
    },
  ]
}
