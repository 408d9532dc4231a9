import { type Base, openBase } from './base.ts'
import type { Coverage } from './faults/coverage.ts'
import { openRig, type Rig } from './open-rig.ts'
import { type RoundResult, rage, settle } from './round.ts'

export type RunOptions = {
  /** How long writers write under faults, seconds of real time. Drains come on top. */
  readonly seconds: number
  readonly seed: number
  /** Default: as fast as the machine bears now. */
  readonly speed: number | undefined
  /** Hears what goes on, each second. */
  readonly onProgress: (progress: Progress) => void
  /** Ends the run before its time. */
  readonly signal: AbortSignal
}

export type Progress = {
  /** Of the rounds that are still going on or settling: events of transactions that a writer knows to be committed. */
  readonly written: number
  readonly kills: number
  readonly rounds: number
}

export type RunResult = { readonly rounds: readonly RoundResult[]; readonly coverage: Coverage; readonly speed: number }

/**
 * The longest round. Each has engines of its own: the embedded DynamoDB takes longer for each write the more its streams
 * hold, and never trims them.
 */
const ROUND_SECONDS = 30
/** Seeds of the rounds of neighbouring seeds must not meet. */
const SEEDS_APART = 1000

/** Rounds, each drained and audited while the next one rages. Ends early with the first round that is not whole. */
export async function runRounds(options: RunOptions): Promise<RunResult> {
  const base = await openBase(options)
  const open = new Set<Rig>()
  const results: RoundResult[] = []
  const reporting = setInterval(() => options.onProgress(progressOf(base, open, results)), 1000)
  try {
    const running = runAll(base, options, { open, results })
    // What is cut off fails in its own ways.
    running.catch(() => {})
    await Promise.race([running, aborted(options.signal)])
    return { rounds: results, coverage: base.counts.coverage(), speed: base.speed }
  } finally {
    clearInterval(reporting)
    await Promise.all([...open].map((rig) => rig.close()))
    await base.close()
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

type Run = { readonly open: Set<Rig>; readonly results: RoundResult[] }

async function runAll(base: Base, { seconds, seed }: RunOptions, { open, results }: Run): Promise<void> {
  const rounds = Math.ceil(seconds / ROUND_SECONDS)
  const durationMs = (seconds / rounds) * 1000 * base.speed
  let settling: Promise<void> | undefined
  for (let n = 0; n < rounds; n++) {
    const rig = await openRig(base, seed * SEEDS_APART + n)
    open.add(rig)
    const killing = await rage(rig, durationMs)
    await settling
    if (results.some(({ breaches }) => breaches.length > 0)) return
    settling = settle(rig, killing).then(async (result) => {
      results.push(result)
      open.delete(rig)
      await rig.close()
    })
    // Awaited with the next round; until then a failure must not end the process.
    settling.catch(() => {})
  }
  await settling
}

function progressOf({ counts }: Base, open: ReadonlySet<Rig>, results: readonly RoundResult[]): Progress {
  const kills = counts.coverage().killPoints.reduce((sum, point) => sum + point.kills, 0)
  const raging = [...open].reduce((sum, { writers }) => sum + writers.written(), 0)
  return { written: raging + results.reduce((sum, { events }) => sum + events, 0), kills, rounds: results.length }
}
