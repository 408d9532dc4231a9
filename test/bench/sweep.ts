import type { SweepReport } from '../../src/relay/sweep.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import { createSweeper } from '../../src/relay/sweeper.ts'
import { OUTBOX_TABLE } from '../../src/tables.ts'
import { type Clients, createClients } from './clients.ts'
import { mixedIdentities, pendingItem, putItems, relayedItems } from './event-rows.ts'
import type { Figure } from './figure.ts'
import { type FilledEngine, startFilledEngine } from './filled-engine.ts'
import { meterDynamo } from './meter.ts'
import type { Part, Say } from './part.ts'
import { interleave, median, type Sample, type Side, spread } from './rounds.ts'
import { type Stub, startStub } from './stub.ts'

/** Rows that were relayed before, by the name of their table. */
const RELAYED = { none: 0, some: 10_000, many: 200_000 }
const PENDING = 1000
const BACKLOG = 50_000
const ROUNDS = { rounds: 5, warmUp: 1 }
/** Of a scheduled run, as it is deployed. */
const RUN_MS = 60_000
const HOUR = 3_600_000

const silent = { info: () => {}, warn: () => {}, error: () => {} }

/**
 * What a sweep reads and how long it takes, beside more and more rows that were relayed long ago, and how fast it drains a
 * backlog. The table is the engine's; the queue is the stub, which takes everything at once.
 */
export const measureSweep: Part = async (say) => {
  say(`filling three tables with up to ${RELAYED.many} relayed rows, and one with ${BACKLOG} pending ones`)
  const created = Date.now() - HOUR
  const engine = await startFilledEngine([
    ...Object.entries(RELAYED).map(([name, count]) => ({
      name: `sweep-${name}`,
      definition: OUTBOX_TABLE,
      rows: relayedItems(count),
    })),
    {
      name: 'backlog',
      definition: OUTBOX_TABLE,
      rows: mixedIdentities(BACKLOG, 'backlog').map((identity) => pendingItem(identity, created)),
    },
  ])
  const stub = await startStub()
  try {
    return [...(await sweepSizes({ engine, stub }, say)), await drain({ engine, stub }, say)]
  } finally {
    await Promise.all([engine.stop(), stub.stop()])
  }
}

type Services = { readonly engine: FilledEngine; readonly stub: Stub }

async function sweepSizes(services: Services, say: Say): Promise<Figure[]> {
  say(`${ROUNDS.rounds} rounds of ${PENDING} pending rows beside 0, ${RELAYED.some} and ${RELAYED.many} relayed ones`)
  const tables = Object.keys(RELAYED).map((name) => sweepTable(services, `sweep-${name}`))
  const idle = await Promise.all(tables.map(({ idleUnits }) => idleUnits()))
  const samples = await interleave(
    tables.map(({ side }) => side),
    ROUNDS,
  )
  const [none = 0, , many = 0] = tables.map(({ unitsPerPending }) => unitsPerPending())
  const [fewIdle = 0, , manyIdle = 0] = idle
  const times = samples.map((rounds) => rounds.map(({ seconds }) => seconds))
  const [emptyTimes = [], , fullTimes = []] = times
  return [
    {
      key: 'sweepReadUnitsPerPending',
      label: `sweep: read units per pending row, beside ${RELAYED.many} relayed rows (other side: none)`,
      value: many,
      sides: { unit: 'units', ours: many, peer: none },
      bound: { atMost: 2 },
    },
    {
      key: 'sweepIdleReadUnits',
      label: 'sweep: read units of a run that finds nothing (other side: an empty table)',
      value: manyIdle,
      sides: { unit: 'units', ours: manyIdle, peer: fewIdle },
    },
    timeFigure(emptyTimes, fullTimes),
  ]
}

function timeFigure(none: readonly number[], many: readonly number[]): Figure {
  return {
    key: 'sweepMs',
    label: `sweep: ms for ${PENDING} pending rows on the engine (other side: no relayed rows)`,
    value: median(many) * 1000,
    sides: { unit: 'ms', ours: median(many) * 1000, peer: median(none) * 1000 },
    spread: spread(many),
  }
}
