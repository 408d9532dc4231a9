import { SingleBar } from 'cli-progress'
import type { Io } from './io.ts'

export type Progress = { readonly seen: (amount: number) => void; readonly end: () => void }

/** Counts what was looked at, on a terminal; elsewhere nothing. With a total it is a bar. */
export function showProgress(io: Io, what: string, total?: number): Progress {
  if (!io.isTerminal) return { seen: () => {}, end: () => {} }
  const format = total === undefined ? `{value} ${what}` : `{bar} {value}/{total} ${what}`
  const bar = new SingleBar({ format, hideCursor: true, clearOnComplete: true, stream: process.stderr })
  bar.start(total ?? 0, 0)
  return { seen: (amount) => bar.update(amount), end: () => bar.stop() }
}
