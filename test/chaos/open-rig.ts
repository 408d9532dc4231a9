import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../demo/chance.ts'
import { type FaultLayer, startFaultLayer } from './faults/fault-layer.ts'
import { idsInHand } from './in-hand.ts'
import { connectMappings, type Mappings } from './mappings.ts'
import { keepOperator, type Operator } from './operator.ts'
import { bundleWorker } from './processes/bundle-worker.ts'
import { type Crew, createCrew } from './processes/crew.ts'
import { createSpares } from './processes/spares.ts'
import { openJournal } from './worker/journal.ts'
import { EFFECTS_TABLE, openWorld, type World } from './world.ts'
import { keepWriters, type Writers } from './writers.ts'

/** Everything that runs. */
export type Rig = {
  readonly world: World
  readonly layer: FaultLayer
  readonly crew: Crew
  readonly mappings: Mappings
  readonly writers: Writers
  readonly operator: Operator
  readonly random: () => number
  /** How many times faster than real time its clock runs. */
  readonly speed: number
  /** What processes write down outside of AWS: a file. */
  readonly journal: string
  /** From now on every clock is right. */
  readonly rightClocks: () => void
  /** Tells all processes that every cause of failure is fixed, and lets the side queue take any length. */
  readonly fix: () => Promise<void>
  /** Ends every process and removes all files. */
  readonly close: () => Promise<void>
}

/** `speed`: default as fast as the machine bears now. */
export type RigSettings = { readonly seed: number; readonly speed: number | undefined }

const SPARES = 2
const FASTEST = 15
const SLOWEST = 3
/** What a process takes to start on a machine that does nothing else, ms. */
const START_MS = 300
/** This share of the processes has a clock that is right; the others' are off by up to so much, ms. */
const RIGHT_CLOCKS = 0.4
const SKEW_MS = 150_000
/** Messages under way at which writers wait. */
const BACKLOG = 150

/** Starts engines, fault layer and processes. No fault strikes yet. */
export async function openRig({ seed, speed: wanted }: RigSettings): Promise<Rig> {
  const folder = await mkdtemp(join(tmpdir(), 'chaos-'))
  const journal = join(folder, 'journal.jsonl')
  const fixed = join(folder, 'fixed')
  await writeFile(journal, '')
  const program = await bundleWorker(folder)
  const spares = createSpares({ program, count: SPARES, cache: join(folder, 'cache') })
  const speed = wanted ?? bearableSpeed(await spares.startMs())
  const world = await openWorld(speed)
  const { aws, queues } = world
  const { dynamoEndpoint: dynamo, sqsEndpoint: sqs, scale, outboxTable, ledgerTable } = aws.address
  const layer = await startFaultLayer({ dynamo, sqs, seed, clock: aws.clock })
  const random = seededRandom(seed)
  let wrongClocks = true
  const crew = createCrew({
    spares,
    layer,
    clock: aws.clock,
    nextSkew: () => (wrongClocks && random() >= RIGHT_CLOCKS ? Math.round((random() * 2 - 1) * SKEW_MS) : 0),
    common: { seed, scale, outboxTable, ledgerTable, effectsTable: EFFECTS_TABLE, queues, journal, fixed },
  })
  const write = openJournal(journal)
  const onDeath = (process: string, event: unknown): void =>
    write({ kind: 'death', process, ids: idsInHand(event), at: aws.clock.now() })
  return {
    world,
    layer,
    crew,
    random,
    speed,
    journal,
    mappings: await connectMappings(world, { crew, random, onDeath }),
    writers: keepWriters(crew, { isBehind: () => world.underWay() > BACKLOG }),
    operator: keepOperator(crew, aws.clock),
    rightClocks: () => {
      wrongClocks = false
    },
    fix: async () => {
      world.mendSideQueue()
      await writeFile(fixed, '')
    },
    close: async () => {
      await spares.stop()
      await aws.stop()
      await layer.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Timeouts shrink with the speed, and must not strike where a process is merely waiting for a busy machine. */
function bearableSpeed(startMs: number): number {
  return Math.round(Math.min(FASTEST, Math.max(SLOWEST, (FASTEST * START_MS) / startMs)))
}
