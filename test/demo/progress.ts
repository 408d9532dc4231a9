import { SingleBar } from 'cli-progress'

export type Progress = {
  /** Whether there is a bar to keep up to date. */
  readonly isShown: boolean
  readonly set: (done: number) => void
  /** What is happening now: a line of its own, above the bar if there is one. */
  readonly say: (text: string) => void
  readonly end: () => void
}

/** A line for each new thing that happens and, on a terminal, a bar below them. All on standard error. */
export function createProgress(total: number): Progress {
  const write = (text: string): void => void process.stderr.write(`${text}\n`)
  if (!process.stderr.isTTY) return { isShown: false, set: () => {}, say: write, end: () => {} }
  const bar = new SingleBar({ format: '{bar} {value}/{total} effects', hideCursor: true, clearOnComplete: true })
  let value = 0
  bar.start(total, value)
  return {
    isShown: true,
    set: (done) => {
      value = done
      bar.update(done)
    },
    say: (text) => {
      bar.stop()
      write(text)
      bar.start(total, value)
    },
    end: () => bar.stop(),
  }
}
