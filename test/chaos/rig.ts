import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { seededRandom } from '../demo/chance.ts'
import { audit } from './audit/audit.ts'
import type { Books, Breach } from './audit/books.ts'
import { readBooks } from './audit/read-books.ts'
import { takeovers } from './audit/takeovers.ts'
import { drain } from './drain.ts'
import type { Coverage } from './faults/coverage.ts'
import { type FaultLayer, startFaultLayer } from './faults/fault-layer.ts'
import { STORMY } from './faults/rates.ts'
import { idsInHand } from './in-hand.ts'
import { startKilling } from './killing.ts'
import { connectMappings, type Mappings } from './mappings.ts'
import { keepOperator, type Operator } from './operator.ts'
import { bundleWorker } from './processes/bundle-worker.ts'
import { type Crew, createCrew } from './processes/crew.ts'
import { createSpares } from './processes/spares.ts'
import { EFFECTS_TABLE, openWorld, type World } from './world.ts'
import { keepWriters } from './writers.ts'

export type RigOptions = {
  /** How long writers write under faults, seconds of real time. The drain comes after. */
  readonly seconds: number
  readonly seed: number
  /** How many times faster than real time the rig's clock runs. Default: as fast as the machine bears now. */
  readonly speed: number | undefined
  /** Hears what goes on. */
  readonly onProgress: (progress: Progress) => void
}

export type Progress = {
  readonly phase: string
  readonly written: number
  readonly kills: number
  readonly left: number
  readonly seconds: number
}

export type RigResult = {
  readonly books: Books
  readonly breaches: readonly Breach[]
  readonly coverage: Coverage
  readonly kills: number
  readonly freezes: number
  /** Sorted, ms of the clock. */
  readonly takeovers: readonly number[]
  readonly speed: number
  readonly trace: (texts: readonly string[]) => Promise<readonly string[]>
  readonly close: () => Promise<void>
}

const SPARES = 2
const FASTEST = 15
const SLOWEST = 3
/** What a process takes to start on a machine that does nothing else. */
const START_MS = 300
/** Of the processes, this share has a clock that is right; the others' are off by up to so much, ms. */
const RIGHT_CLOCKS = 0.4
const SKEW_MS = 150_000
/** ms of the clock. */
const REPLAY_EVERY_MS = 300_000
const REDRIVE_EVERY_MS = 40_000
/** How long a replay goes on at most, ms of real time: later on, the stream holds more than a replay can read. */
const REPLAY_MS = 2500
/** Messages under way at which writers wait. */
const BACKLOG = 150

type Parts = {
  readonly world: World
  readonly layer: FaultLayer
  readonly crew: Crew
  readonly mappings: Mappings
  readonly operator: Operator
}

/** Runs the whole: writers under faults, then calm and a drain, then the audit. */
export async function runRig({ seconds, seed, speed: wanted, onProgress }: RigOptions): Promise<RigResult> {
  const started = performance.now()
  const folder = await mkdtemp(join(tmpdir(), 'chaos-'))
  const journal = join(folder, 'journal.jsonl')
  const fixed = join(folder, 'fixed')
  await writeFile(journal, '')
  const program = await bundleWorker(folder)
  const random = seededRandom(seed)
  const spares = createSpares({ program, count: SPARES, cache: join(folder, 'cache') })
  const speed = wanted ?? bearableSpeed(await spares.startMs())
  const world = await openWorld(speed)
  const { aws, queues } = world
  const layer = await startFaultLayer({
    dynamo: aws.address.dynamoEndpoint,
    sqs: aws.address.sqsEndpoint,
    seed,
    clock: aws.clock,
  })
  let isCalm = false
  let phase = 'start'
  const crew = createCrew({
    spares,
    layer,
    clock: aws.clock,
    nextSkew: () => (isCalm || random() < RIGHT_CLOCKS ? 0 : Math.round((random() * 2 - 1) * SKEW_MS)),
    common: {
      seed,
      scale: aws.address.scale,
      outboxTable: aws.outboxTable,
      ledgerTable: aws.ledgerTable,
      effectsTable: EFFECTS_TABLE,
      queues,
      journal,
      fixed,
    },
  })
  const mappings = await connectMappings(world, crew, random)
  const writers = keepWriters(crew, { isBehind: () => sum(world.left()) > BACKLOG })
  const operator = keepOperator(crew, aws.clock)
  layer.setRates(STORMY)
  const ending = new AbortController()
  const inHand = (process: string): readonly string[] => idsInHand(mappings.relay.eventOf(process))
  const killing = startKilling({ layer, crew, random, inHand, signal: ending.signal })
  const report = (): void =>
    onProgress({
      phase,
      written: writers.written(),
      kills: killing.kills.length,
      left: sum(world.left()),
      seconds: (performance.now() - started) / 1000,
    })
  const reporting = setInterval(report, 1000)

  const parts: Parts = { world, layer, crew, mappings, operator }
  phase = 'storm'
  await storm(parts, { seconds, ending })
  phase = 'writers end'
  await writers.finish()
  isCalm = true
  phase = 'calm'
  await layer.quiet()
  world.mendSideQueue()
  await writeFile(fixed, '')
  await crew.thawed()
  phase = 'drain'
  await drain(parts)
  clearInterval(reporting)
  operator.retire()

  const left = world.left()
  const books = {
    ...(await readBooks(
      aws.dynamo,
      { outboxTable: aws.outboxTable, ledgerTable: aws.ledgerTable, effectsTable: EFFECTS_TABLE },
      journal,
    )),
    left,
  }
  return {
    books,
    breaches: audit(books),
    coverage: layer.coverage(),
    kills: killing.kills.length,
    freezes: killing.freezes(),
    takeovers: takeovers(killing.kills, books.journal),
    speed,
    trace: layer.trace,
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

/** Faults until the time is over. Now and then the stream is read again from its horizon, for a while. */
async function storm({ world, mappings, operator }: Parts, { seconds, ending }: StormOptions): Promise<void> {
  const { clock, address } = world.aws
  const end = clock.now() + seconds * 1000 * address.scale.speed
  const span = Math.min(REPLAY_EVERY_MS, (end - clock.now()) / 3)
  operator.redriveEvery(REDRIVE_EVERY_MS, ending.signal)
  const replays: Promise<void>[] = []
  for (let next = clock.now() + span; next < end; next += span) {
    await clock.sleep(Math.max(0, next - clock.now()))
    replays.push(mappings.replayStream(AbortSignal.any([ending.signal, AbortSignal.timeout(REPLAY_MS)])))
  }
  await clock.sleep(Math.max(0, end - clock.now()))
  ending.abort()
  await Promise.all(replays)
}

type StormOptions = { readonly seconds: number; readonly ending: AbortController }

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0)
}
