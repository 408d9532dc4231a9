import { createHash } from 'node:crypto'
import type { Clock } from '../../../src/clock.ts'
import { scaledClock, type TimeScale } from '../../../src/testing/scaled-clock.ts'
import { seededRandom } from '../../demo/chance.ts'

export type WorkerClocks = {
  /** What the code under test reads: off by this process's error. */
  readonly clock: Clock
  /** The rig's own time. */
  readonly trueClock: Clock
}

/** Clocks of one process. Chance and ids come from the seed and the process's name, which is unique in a run. */
export function workerClocks(
  scale: TimeScale,
  { seed, name, skewMs }: { seed: number; name: string; skewMs: number },
): WorkerClocks {
  let ids = 0
  const base = scaledClock(scale)
  const trueClock: Clock = {
    ...base,
    random: seededRandom(hash(`${seed} ${name}`).readUInt32BE()),
    id: () => uuid(`${seed} ${name} ${++ids}`),
  }
  return { trueClock, clock: { ...trueClock, now: () => trueClock.now() + skewMs } }
}

/** As unlikely to come twice as any random id, but repeatable: 122 bits of a hash. */
function uuid(text: string): string {
  const hex = hash(text).toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
