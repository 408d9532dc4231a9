import type { Figure } from './figure.ts'
import { startFilledEngine } from './filled-engine.ts'
import { OPERATIONS, type Operation, openSize, type Size, tablesOf } from './growth-tables.ts'
import type { Part, Say } from './part.ts'
import { type Comparison, compare, interleave, type Sample, type Side } from './rounds.ts'
import type { Step } from './steps.ts'
import { startStub } from './stub.ts'

/** Rows stored in the outbox table, and as many in the ledger: 1×, 10× and 100×. */
const STORED = [1000, 10_000, 100_000] as const
const ROUNDS = { rounds: 9, warmUp: 2 }

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

/** CPU and time at 1× and 100× in turn; requests and units at 10× too. */
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
  await interleave([ten], ROUNDS)
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

/** All rounds together: how many groups happen to share a request differs from one to the next. */
function usageOf(steps: readonly Step[]): Quantities {
  const perRound = (quantity: (step: Step) => number) =>
    steps.reduce((sum, step) => sum + quantity(step), 0) / steps.length
  return {
    requests: perRound((step) => step.requests + step.sqsRequests),
    units: perRound((step) => step.readUnits + step.writeUnits),
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
