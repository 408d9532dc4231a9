import { setInterval } from 'node:timers'
import type { Crew, Member } from './processes/crew.ts'
import { keepResident } from './processes/resident.ts'

const WRITERS = 3
const LOOK_MS = 20

export type Writers = {
  /** Events of transactions that a writer knows to be committed. */
  readonly written: () => number
  /** No writer is replaced any more. */
  readonly retire: () => void
  /** Resolves once no writer has anything under way. */
  readonly finish: () => Promise<void>
}

/** Writers that write as fast as they may: they wait while too much is under way. */
export function keepWriters(crew: Crew, { isBehind }: { readonly isBehind: () => boolean }): Writers {
  let written = 0
  let go = true
  const welcome = ({ worker }: Member): void => {
    worker.on('wrote', ({ events }) => {
      written += events
    })
    worker.tell({ kind: 'pace', go })
  }
  const residents = Array.from({ length: WRITERS }, () => keepResident(crew, 'writer', welcome))
  const pacing = setInterval(() => {
    if (go === !isBehind()) return
    go = !go
    for (const { current } of residents) current()?.worker.tell({ kind: 'pace', go })
  }, LOOK_MS)
  const retire = (): void => {
    clearInterval(pacing)
    for (const resident of residents) resident.retire()
  }
  return {
    written: () => written,
    retire,
    finish: async () => {
      retire()
      await Promise.all(
        residents.map(async ({ current }) => {
          const member = current()
          if (member === undefined) return
          const finished = member.worker.hear('finished')
          member.worker.tell({ kind: 'finish' })
          await finished.catch(() => {})
          crew.dismiss(member)
        }),
      )
    },
  }
}
