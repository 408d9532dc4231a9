import type { Clock } from '../../src/clock.ts'
import type { Crew } from './processes/crew.ts'
import { keepResident } from './processes/resident.ts'

export type Operator = {
  /** Redrives a share (0 to 1) of all dead letters. Gives how many were moved; 0 if it died over it. */
  readonly redrive: (share: number) => Promise<number>
  readonly redriveEvery: (ms: number, signal: AbortSignal) => void
  readonly retire: () => void
}

/** Of the dead letters that there are, so many are redriven in each pass during the run: most of them before their cause is fixed. */
const SHARE = 0.5

export function keepOperator(crew: Crew, clock: Clock): Operator {
  const { current, retire } = keepResident(crew, 'operator', () => {})
  const redrive = async (share: number): Promise<number> => {
    const worker = current()?.worker
    if (worker === undefined) return 0
    const finished = worker.hear('finished')
    worker.tell({ kind: 'redrive', share })
    return finished.then(
      ({ moved = 0 }) => moved,
      () => 0,
    )
  }
  const loop = async (ms: number, signal: AbortSignal): Promise<void> => {
    while (!signal.aborted) {
      await clock.sleep(ms, signal).catch(() => {})
      if (!signal.aborted) await redrive(SHARE)
    }
  }
  return { redrive, redriveEvery: (ms, signal) => void loop(ms, signal), retire }
}
