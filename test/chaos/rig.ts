import { audit } from './audit/audit.ts'
import type { Books, Breach } from './audit/books.ts'
import { readBooks } from './audit/read-books.ts'
import { takeovers } from './audit/takeovers.ts'
import { drain } from './drain.ts'
import type { Coverage } from './faults/coverage.ts'
import type { Killing } from './killing.ts'
import type { Rig } from './open-rig.ts'
import { startStorm } from './storm.ts'
import { EFFECTS_TABLE } from './world.ts'

export type Phase = 'storm' | 'calm' | 'drain' | 'audit'

export type Progress = {
  readonly phase: Phase
  /** Events of transactions that a writer knows to be committed. */
  readonly written: number
  readonly kills: number
  /** Messages in queues. */
  readonly underWay: number
}

export type RigOptions = {
  /** How long writers write under faults, seconds of real time. The drain comes after. */
  readonly seconds: number
  /** Hears what goes on, each second. */
  readonly onProgress: (progress: Progress) => void
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
}

/** Writers under faults; then calm, and a drain; then the audit of what is stored. */
export async function runRig(rig: Rig, { seconds, onProgress }: RigOptions): Promise<RigResult> {
  const { world, layer, writers, crew, operator, speed } = rig
  let phase: Phase = 'storm'
  const storm = startStorm(rig, seconds * 1000 * speed)
  const reporting = setInterval(() => {
    const kills = storm.killing.kills.length
    onProgress({ phase, written: writers.written(), kills, underWay: world.underWay() })
  }, 1000)
  try {
    await storm.ended
    await writers.finish()
    phase = 'calm'
    rig.rightClocks()
    await layer.quiet()
    await rig.fix()
    await crew.thawed()
    phase = 'drain'
    await drain(rig)
    operator.retire()
    phase = 'audit'
    return await judge(rig, storm.killing)
  } finally {
    clearInterval(reporting)
  }
}

async function judge({ world, journal, layer, speed }: Rig, { kills, freezes }: Killing): Promise<RigResult> {
  const { dynamo, outboxTable, ledgerTable } = world.aws
  const left = world.left()
  const stored = await readBooks(dynamo, { outboxTable, ledgerTable, effectsTable: EFFECTS_TABLE }, journal)
  const books = { ...stored, left }
  return {
    books,
    breaches: audit(books),
    coverage: layer.coverage(),
    kills: kills.length,
    freezes: freezes(),
    takeovers: takeovers(kills, books.journal),
    speed,
  }
}
