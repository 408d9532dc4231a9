import { SingleBar } from 'cli-progress'
import type { Progress } from './rounds.ts'

export type ProgressView = { readonly show: (progress: Progress) => void; readonly end: () => void }

/** A bar on a terminal; elsewhere a line now and then. All on standard error. */
export function createProgress(seconds: number): ProgressView {
  if (!process.stderr.isTTY) return createLines()
  const bar = new SingleBar({
    format: '{bar} {written} events, {kills} kills and freezes, {rounds} rounds audited',
    hideCursor: true,
    clearOnComplete: true,
  })
  let passed = 0
  bar.start(seconds, 0, { written: 0, kills: 0, rounds: 0 })
  return {
    show: (progress) => {
      passed += 1
      bar.update(Math.min(seconds, passed), progress)
    },
    end: () => bar.stop(),
  }
}

const LINE_EVERY = 15

function createLines(): ProgressView {
  let passed = 0
  return {
    show: ({ written, kills, rounds }) => {
      passed += 1
      if (passed % LINE_EVERY !== 0) return
      process.stderr.write(`${passed} s: ${written} events, ${kills} kills and freezes, ${rounds} rounds audited\n`)
    },
    end: () => {},
  }
}
