import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { seededRandom } from '../demo/chance.ts'
import type { Base } from './base.ts'
import { type FaultLayer, startFaultLayer } from './faults/fault-layer.ts'
import { idsInHand } from './in-hand.ts'
import { connectMappings, type Mappings } from './mappings.ts'
import { keepOperator, type Operator } from './operator.ts'
import { type Crew, createCrew } from './processes/crew.ts'
import { openJournal } from './worker/journal.ts'
import { EFFECTS_TABLE, openWorld, type World } from './world.ts'
import { keepWriters, type Writers } from './writers.ts'

/** Everything that runs in one round. */
export type Rig = {
  readonly world: World
  readonly layer: FaultLayer
  readonly crew: Crew
  readonly mappings: Mappings
  readonly writers: Writers
  readonly operator: Operator
  readonly random: () => number
  /** What processes write down outside of AWS: a file. */
  readonly journal: string
  /** From now on every clock is right. */
  readonly rightClocks: () => void
  /** Tells all processes that every cause of failure is fixed, and lets the side queue take any length. */
  readonly fix: () => Promise<void>
  /** Ends its engines and processes. */
  readonly close: () => Promise<void>
}

/** This share of the processes has a clock that is right; the others' are off by up to so much, ms. */
const RIGHT_CLOCKS = 0.4
const SKEW_MS = 150_000
/** Messages under way at which writers wait. */
const BACKLOG = 750

/** Starts engines, fault layer and processes. No fault strikes yet. */
export async function openRig(base: Base, seed: number): Promise<Rig> {
  const folder = await base.newFolder(String(seed))
  const journal = join(folder, 'journal.jsonl')
  const fixed = join(folder, 'fixed')
  await writeFile(journal, '')
  const world = await openWorld(base.speed)
  const { aws, queues } = world
  const { clock } = aws
  const { dynamoEndpoint: dynamo, sqsEndpoint: sqs, scale, outboxTable, ledgerTable } = aws.address
  const layer = await startFaultLayer({ dynamo, sqs, seed, clock, counts: base.counts })
  const random = seededRandom(seed)
  let wrongClocks = true
  const crew = createCrew({
    spares: base.spares,
    layer,
    clock,
    nextSkew: () => (wrongClocks && random() >= RIGHT_CLOCKS ? Math.round((random() * 2 - 1) * SKEW_MS) : 0),
    common: { seed, scale, outboxTable, ledgerTable, effectsTable: EFFECTS_TABLE, queues, journal, fixed },
  })
  const write = openJournal(journal)
  const onDeath = (process: string, event: unknown): void =>
    write({ kind: 'death', process, ids: idsInHand(event), at: clock.now() })
  const mappings = await connectMappings(world, { crew, random, onDeath })
  const writers = keepWriters(crew, { isBehind: () => world.underWay() > BACKLOG })
  const operator = keepOperator(crew, clock)
  return {
    world,
    layer,
    crew,
    random,
    journal,
    mappings,
    writers,
    operator,
    rightClocks: () => {
      wrongClocks = false
    },
    fix: async () => {
      world.mendSideQueue()
      await writeFile(fixed, '')
    },
    close: async () => {
      writers.retire()
      operator.retire()
      crew.disband()
      await aws.stop()
      await layer.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
