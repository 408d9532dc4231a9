import { SingleBar } from 'cli-progress'
import type { Io } from './io.ts'

export type Progress = { readonly seen: (amount: number) => void; readonly end: () => void }

/**
 * Counts what was looked at, on a terminal; elsewhere nothing. With a total it is a bar. It begins with the first one seen,
 * so that what is said before stands on a line of its own, and changes nothing of the terminal that a kill would leave so.
 */
export function showProgress(io: Io, what: string, total?: number): Progress {
  if (!io.isTerminal) return { seen: () => {}, end: () => {} }
  const format = total === undefined ? `{value} ${what}` : `{bar} {value}/{total} ${what}`
  const bar = new SingleBar({
    format,
    hideCursor: false,
    linewrap: true,
    clearOnComplete: true,
    stream: process.stderr,
  })
  return {
    seen: (amount) => {
      if (bar.isActive) bar.update(amount)
      else bar.start(total ?? 0, amount)
    },
    end: () => bar.stop(),
  }
}
