import type { Identity } from '../../src/event/identity.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import type { SweepReport } from '../../src/relay/sweep.ts'
import { createSweeper } from '../../src/relay/sweeper.ts'
import { OUTBOX_TABLE } from '../../src/tables.ts'
import { type Clients, createClients } from './clients.ts'
import { identities, type Layout, mixedIdentities, pendingItem, putItems, relayedItems } from './event-rows.ts'
import type { Figure } from './figure.ts'
import { type FilledEngine, type Item, startFilledEngine } from './filled-engine.ts'
import { meterDynamo } from './meter.ts'
import type { Part, Say } from './part.ts'
import { interleave, median, type Side, spread } from './rounds.ts'
import { type Stub, startStub } from './stub.ts'

/** Rows that were relayed before. */
const RELAYED = [0, 10_000, 200_000] as const
const RELAYED_GROUPS = 100
const PENDING = 1000
const PER_GROUP = 10
/** In which read units are looked at: the bound is on the dearest. */
const LAYOUTS: readonly Layout[] = [{}, { perGroup: PER_GROUP }, { perGroup: 1 }]
const BACKLOG = 50_000
const BACKLOG_PER_GROUP = 250
const ROUNDS = { rounds: 5, warmUp: 1 }
/** Of a scheduled run, as it is deployed. */
const RUN_MS = 60_000
const HOUR = 3_600_000

const silent = { info: () => {}, warn: () => {}, error: () => {} }

/**
 * What a sweep reads and how long it takes, beside more and more rows that were relayed long ago, and how fast it drains a
 * backlog. The tables are the engine's; the queue is the stub, which takes everything at once.
 */
export const measureSweep: Part = async (say) => {
  say(`filling tables with up to ${RELAYED[2]} relayed rows, and one with ${BACKLOG} pending ones`)
  const backlog = pendingItems(mixedIdentities(BACKLOG, 'backlog', BACKLOG_PER_GROUP))
  const engine = await startFilledEngine([
    ...RELAYED.map((count) => ({
      name: tableOf(count),
      definition: OUTBOX_TABLE,
      rows: relayedItems(count, RELAYED_GROUPS),
    })),
    { name: 'backlog', definition: OUTBOX_TABLE, rows: backlog },
  ])
  const stub = await startStub()
  try {
    const services = { engine, stub }
    return [...(await sweepBeside(services, say)), await drain(services, say)]
  } finally {
    await Promise.all([engine.stop(), stub.stop()])
  }
}

type Services = { readonly engine: FilledEngine; readonly stub: Stub }

async function sweepBeside(services: Services, say: Say): Promise<Figure[]> {
  const tables = RELAYED.map((count) => openTable(services, tableOf(count)))
  say(`${PENDING} pending rows, unordered, in groups of ${PER_GROUP}, and alone in their groups: read units`)
  const units: number[] = []
  const idle: number[] = []
  for (const table of tables) {
    const perLayout: number[] = []
    for (const layout of LAYOUTS) perLayout.push(await table.unitsPerPending(layout))
    units.push(Math.max(...perLayout))
    idle.push(await table.idleUnits())
  }
  say(`${ROUNDS.rounds} rounds beside ${RELAYED.join(', ')} relayed rows: time`)
  const samples = await interleave(
    tables.map(({ side }) => side),
    ROUNDS,
  )
  const times = samples.map((rounds) => rounds.map(({ seconds }) => seconds * 1000))
  const beside = ([none = Number.NaN, some = Number.NaN, many = Number.NaN]: readonly number[], unit: string) => ({
    value: many,
    sides: { unit, ours: many, peer: none },
    spread: spread([none, some, many]),
  })
  return [
    {
      key: 'sweepReadUnitsPerPending',
      label: `sweep: read units per pending row beside ${RELAYED[2]} relayed rows (peer: beside none)`,
      ...beside(units, 'units'),
      bound: { atMost: 2 },
    },
    {
      key: 'sweepIdleReadUnits',
      label: `sweep: read units of a run that finds nothing in ${RELAYED[2]} rows (peer: in none)`,
      ...beside(idle, 'units'),
    },
    {
      key: 'sweepMs',
      label: `sweep: ${PENDING} pending rows beside ${RELAYED[2]} relayed ones, engine time (peer: beside none)`,
      ...beside(times.map(median), 'ms'),
      spread: spread(times[2] ?? []),
    },
  ]
}

/** A table with a sweeper of its own; every sweep leaves it without a pending row. */
function openTable({ engine, stub }: Services, tableName: string) {
  const clients = openClients({ engine, stub })
  const writer = openClients({ engine, stub }).dynamo
  const meter = meterDynamo(clients.dynamo)
  const sweep = sweeperOn(clients, { tableName, queueUrl: stub.queueUrl })
  let fills = 0
  const fill = async (make: (name: string) => readonly Identity[]): Promise<void> => {
    fills += 1
    await putItems(writer, tableName, pendingItems(make(`${tableName}-${fills}`)))
  }
  const readUnits = async (expected: number): Promise<number> => {
    meter.reset()
    expectRelayed(await sweep(), expected)
    return meter.read().readUnits
  }
  const side: Side = {
    prepare: async () => {
      await fill((name) => mixedIdentities(PENDING, name, PER_GROUP))
      return async () => expectRelayed(await sweep(), PENDING)
    },
  }
  return {
    side,
    unitsPerPending: async (layout: Layout) => {
      await fill((name) => identities(PENDING, name, layout))
      return (await readUnits(PENDING)) / PENDING
    },
    idleUnits: () => readUnits(0),
  }
}

/** Rows a second of one scheduled run, all of them accounted for by the queue. */
async function drain({ engine, stub }: Services, say: Say): Promise<Figure> {
  say(`draining ${BACKLOG} pending rows`)
  const clients = openClients({ engine, stub })
  const sweep = sweeperOn(clients, { tableName: 'backlog', queueUrl: stub.queueUrl })
  await stub.counts()
  const started = performance.now()
  const { relayed } = await sweep()
  const seconds = (performance.now() - started) / 1000
  const { items } = await stub.counts()
  if ((items['SendMessageBatch'] ?? 0) < relayed || relayed === 0)
    throw new Error(`${relayed} rows were relayed, and ${items['SendMessageBatch']} sent`)
  return {
    key: 'drainPerSecond',
    label: `sweep: rows a second of a backlog of ${BACKLOG}, engine figure`,
    value: relayed / seconds,
  }
}

/** Without the short timeouts of the deployed functions: an engine on a busy machine may need longer. */
function openClients({ engine, stub }: Services): Clients {
  return createClients('peer', { dynamo: engine.endpoint, sqs: stub.endpoint })
}

function sweeperOn(
  { dynamo, sqs }: Clients,
  { tableName, queueUrl }: { readonly tableName: string; readonly queueUrl: string },
): () => Promise<SweepReport> {
  const routes = [{ to: createSqsPublisher({ client: sqs, queueUrl }) }]
  const sweeper = createSweeper({ client: dynamo, tableName, routes, logger: silent })
  return () => sweeper(undefined, { getRemainingTimeInMillis: () => RUN_MS })
}

function expectRelayed({ relayed, dead, timeIsUp }: SweepReport, expected: number): void {
  if (relayed !== expected || dead !== 0 || timeIsUp) throw new Error(`${relayed} of ${expected} rows were relayed`)
}

/** Due: created before the grace. */
function pendingItems(all: readonly Identity[]): Item[] {
  const created = Date.now() - HOUR
  return all.map((identity) => pendingItem(identity, created))
}

function tableOf(relayed: number): string {
  return `beside-${relayed}`
}
