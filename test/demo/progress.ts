import { SingleBar } from 'cli-progress'

export type Progress = {
  /** Whether there is a bar to keep up to date. */
  readonly isShown: boolean
  readonly set: (done: number) => void
  /** What is happening now. */
  readonly say: (text: string) => void
  readonly end: () => void
}

/** A bar on a terminal; elsewhere a line for each new thing that happens. All on standard error. */
export function createProgress(total: number): Progress {
  if (!process.stderr.isTTY)
    return { isShown: false, set: () => {}, say: (text) => process.stderr.write(`${text}\n`), end: () => {} }
  const bar = new SingleBar({
    format: '{bar} {value}/{total} effects · {duration_formatted} · {text}',
    hideCursor: true,
  })
  bar.start(total, 0, { text: 'starting' })
  return { isShown: true, set: (done) => bar.update(done), say: (text) => bar.update({ text }), end: () => bar.stop() }
}
