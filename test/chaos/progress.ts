import { SingleBar } from 'cli-progress'
import type { Phase, Progress } from './rig.ts'

export type ProgressView = { readonly show: (progress: Progress) => void; readonly end: () => void }

/** A bar on a terminal; elsewhere a line whenever a phase begins. All on standard error. */
export function createProgress(seconds: number): ProgressView {
  if (!process.stderr.isTTY) return createLines()
  const bar = new SingleBar({
    format: '{bar} {phase}: {written} events, {kills} kills, {underWay} messages under way',
    hideCursor: true,
    clearOnComplete: true,
  })
  let passed = 0
  bar.start(seconds, 0, { phase: 'storm', written: 0, kills: 0, underWay: 0 })
  return {
    show: (progress) => {
      passed += 1
      bar.update(Math.min(seconds, passed), progress)
    },
    end: () => bar.stop(),
  }
}

function createLines(): ProgressView {
  let last: Phase | undefined
  return {
    show: ({ phase, written, kills, underWay }) => {
      if (phase === last) return
      last = phase
      process.stderr.write(`${phase}: ${written} events, ${kills} kills, ${underWay} messages under way\n`)
    },
    end: () => {},
  }
}
