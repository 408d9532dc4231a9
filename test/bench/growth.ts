import type { NewEvent } from '../../src/event/event.ts'
import type { Identity } from '../../src/event/identity.ts'
import { LEDGER_TABLE, OUTBOX_TABLE } from '../../src/tables.ts'
import { createClients } from './clients.ts'
import { DATA, identities, oldGroup, pendingItem, putItems, relayedItems, SOURCE, TYPE } from './event-rows.ts'
import type { Figure } from './figure.ts'
import { type FilledEngine, type Item, startFilledEngine } from './filled-engine.ts'
import type { Part, Say } from './part.ts'
import { type Comparison, compare, interleave, median, type Sample, type Side } from './rounds.ts'
import { openSteps, type Step } from './steps.ts'
import { type Stub, startStub } from './stub.ts'

/** Rows stored in the outbox table, and as many in the ledger: 1×, 10× and 100×. */
const STORED = [1000, 10_000, 100_000] as const
/** Half of the stored rows lie in these: at 100× each has 5,000. */
const GROUPS = 10
const ROUNDS = { rounds: 9, warmUp: 2 }
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

/** Everything at 100× by that at 1×. */
type Growth = {
  readonly name: Operation
  /** Worst of requests and units. */
  readonly usage: number
  /** The same at 10×. */
  readonly tenfold: number
  readonly cpu: Comparison
  /** The engine's with ours. */
  readonly time: number
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

/** CPU and time at 1× and 100× in turn; requests and units, which are the same every time, at 10× too. */
async function measureOperation(sizes: readonly Size[], name: Operation, say: Say): Promise<Growth> {
  say(`${name}: ${ROUNDS.rounds} rounds beside ${STORED[0]} and ${STORED[2]} rows`)
  const steps = sizes.map((): Step[] => [])
  const sides = sizes.map(
    (size, n): Side => ({
      prepare: async () => {
        const work = await size[name]()
        return async () => steps[n]?.push(await work())
      },
    }),
  )
  const [one, ten, hundred] = sides
  if (one === undefined || ten === undefined || hundred === undefined) throw new Error('three sizes are needed')
  const [small = [], large = []] = await interleave([one, hundred], ROUNDS)
  await interleave([ten], { rounds: 1, warmUp: 0 })
  const usage = steps.map(usageOf)
  const cpu = (samples: readonly Sample[]) => samples.map(({ cpuSeconds }) => cpuSeconds * 1000)
  const seconds = (samples: readonly Sample[]) => samples.map((sample) => sample.seconds)
  return {
    name,
    usage: worstGrowth(usage[2], usage[0]),
    tenfold: worstGrowth(usage[1], usage[0]),
    cpu: compare(cpu(large), cpu(small)),
    time: compare(seconds(large), seconds(small)).ratio,
  }
}

type Quantities = { readonly requests: number; readonly units: number }

function usageOf(steps: readonly Step[]): Quantities {
  return {
    requests: median(steps.map((step) => step.requests + step.sqsRequests)),
    units: median(steps.map((step) => step.readUnits + step.writeUnits)),
  }
}

function worstGrowth(large: Quantities | undefined, small: Quantities | undefined): number {
  if (large === undefined || small === undefined) return Number.NaN
  return Math.max(large.requests / small.requests, large.units / small.units)
}

function figuresOf(growths: readonly Growth[]): Figure[] {
  const worst = (pick: (growth: Growth) => number) => Math.max(...growths.map(pick))
  const usage = worst((growth) => growth.usage)
  return [
    {
      key: 'growth100x',
      label: 'growth: worst of requests, units and CPU, 100 times the rows stored',
      value: Math.max(
        usage,
        worst(({ cpu }) => cpu.ratio),
      ),
      bound: { atMost: 1.2 },
    },
    { key: 'growthUsage100x', label: 'growth: worst of requests and units, 100 times the rows', value: usage },
    {
      key: 'growthUsage10x',
      label: 'growth: worst of requests and units, 10 times the rows',
      value: worst(({ tenfold }) => tenfold),
    },
    ...growths.map(cpuFigure),
    {
      key: 'growthEngineTime100x',
      label: 'growth: worst of time, the engine’s with it, 100 times the rows',
      value: worst(({ time }) => time),
    },
  ]
}

function cpuFigure({ name, cpu: { ratio, spread, ours, peer } }: Growth): Figure {
  return {
    key: `growthCpu${name[0]?.toUpperCase()}${name.slice(1)}`,
    label: `growth: CPU of ${name}, 100 times the rows (peer: 1×)`,
    value: ratio,
    sides: { unit: 'ms', ours, peer },
    spread,
  }
}
