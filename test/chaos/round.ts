import { audit } from './audit/audit.ts'
import type { Breach } from './audit/books.ts'
import { readBooks } from './audit/read-books.ts'
import { takeovers } from './audit/takeovers.ts'
import { drain } from './drain.ts'
import type { Killing } from './killing.ts'
import type { Rig } from './open-rig.ts'
import { startStorm } from './storm.ts'
import { traceOf } from './trace.ts'
import { EFFECTS_TABLE } from './world.ts'

/** What came of one round, on engines and tables of its own. */
export type RoundResult = {
  readonly events: number
  readonly kills: number
  readonly freezes: number
  /** ms of the clock. */
  readonly takeovers: readonly number[]
  readonly breaches: readonly TracedBreach[]
}

/** A breach, with all that is known of its event. */
export type TracedBreach = Breach & { readonly trace: readonly string[] }

/** Breaches of a round whose trace is kept. */
const TRACED = 5

/** Lets writers write under faults and kills for a while, in ms of the clock. */
export async function rage(rig: Rig, durationMs: number): Promise<Killing> {
  const { killing, ended } = startStorm(rig, durationMs)
  await ended
  await rig.writers.finish()
  return killing
}

/** Then calm, and a drain; then the audit of what is stored. */
export async function settle(rig: Rig, killing: Killing): Promise<RoundResult> {
  rig.rightClocks()
  await rig.layer.quiet()
  await rig.fix()
  await rig.crew.thawed()
  await drain(rig)
  rig.operator.retire()
  return judge(rig, killing)
}

async function judge({ world, journal, layer }: Rig, { kills, freezes }: Killing): Promise<RoundResult> {
  const { dynamo, outboxTable, ledgerTable } = world.aws
  const left = world.left()
  const stored = await readBooks(dynamo, { outboxTable, ledgerTable, effectsTable: EFFECTS_TABLE }, journal)
  const books = { ...stored, left }
  const breaches = audit(books).map(async (breach, n) => ({
    ...breach,
    trace: n < TRACED ? await traceOf(books, layer, breach) : [],
  }))
  return {
    events: books.rows.length,
    kills: kills.length,
    freezes: freezes(),
    takeovers: takeovers(kills, books.journal),
    breaches: await Promise.all(breaches),
  }
}
