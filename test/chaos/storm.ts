import { STORMY } from './faults/rates.ts'
import { idsInHand } from './in-hand.ts'
import { type Killing, startKilling } from './killing.ts'
import type { Rig } from './open-rig.ts'

/** ms of the clock. */
const REPLAY_EVERY_MS = 300_000
const REDRIVE_EVERY_MS = 40_000
/** How long a replay goes on at most, ms of real time: later on, the stream holds more than a replay can read. */
const REPLAY_MS = 2500

export type Storm = {
  readonly killing: Killing
  /** Ends with the time, in ms of the clock: nobody is killed any more, and no replay goes on. Faults still strike. */
  readonly ended: Promise<void>
}

/** Lets faults and kills loose. Now and then the stream is read again from its horizon, for a while. */
export function startStorm({ world, layer, crew, mappings, operator, random }: Rig, durationMs: number): Storm {
  const { clock } = world.aws
  const ending = new AbortController()
  const { signal } = ending
  layer.setRates(STORMY)
  const inHand = (process: string): readonly string[] => idsInHand(mappings.relay.eventOf(process))
  const killing = startKilling({ layer, crew, random, inHand, signal })
  operator.redriveEvery(REDRIVE_EVERY_MS, signal)

  const rage = async (): Promise<void> => {
    const end = clock.now() + durationMs
    const span = Math.min(REPLAY_EVERY_MS, durationMs / 3)
    const replays: Promise<void>[] = []
    for (let next = clock.now() + span; next < end; next += span) {
      await clock.sleep(Math.max(0, next - clock.now()))
      replays.push(mappings.replayStream(AbortSignal.any([signal, AbortSignal.timeout(REPLAY_MS)])))
    }
    await clock.sleep(Math.max(0, end - clock.now()))
    ending.abort()
    await Promise.all(replays)
  }
  return { killing, ended: rage() }
}
