import { isOutboxError } from '../../../src/errors.ts'
import { DUE_HORIZON_MS, rowState } from '../../../src/outbox/row.ts'
import { createSweeper } from '../../../src/relay/sweeper.ts'
import type { Item } from './engine/values.ts'
import { relayOptions } from './relay-options.ts'
import { MAX_SILENT_REQUESTS, REGION, type World } from './world.ts'

const EVERY_MS = 60_000
const FUNCTION_MS = 58_000
const SWEEPERS = 2
/** More than any clock is off. */
const SKEW_MS = 300_000

/** Two sweepers, each once a minute. One that would find nothing to do is not even started. */
export function startSweepers(world: World): void {
  const { scheduler, outbox, luck, books } = world
  const sweep = (): void => {
    const process = world.spawn('sweeper')
    const sweeper = createSweeper(relayOptions(world, process))
    const end = process.clock.now() + FUNCTION_MS
    const cancel = scheduler.in(FUNCTION_MS, () => {
      if (!process.isFrozen()) process.kill('its time is over')
    })
    const finish = (): void => {
      cancel()
      world.ended(process)
      const { requests, answered } = world.tried(process)
      if (requests > 2 * MAX_SILENT_REQUESTS && !answered)
        books.breach(`${process.name} sent ${requests} requests into silence`)
    }
    sweeper(undefined, { getRemainingTimeInMillis: () => end - process.clock.now() }).then(finish, (error) => {
      cancel()
      if (!isOutboxError(error, 'UNAVAILABLE')) books.breach(`the sweeper threw ${String(error)}`)
    })
  }
  const pending = (): Item[] =>
    outbox.items().filter(({ shard, region }) => rowState(shard?.S) === 'pending' && region?.S === REGION)
  const isPending = (): boolean => pending().length > 0
  /** Rows in their grace are mostly nothing to look at. */
  const isWorthIt = (): boolean => {
    const rows = pending()
    const late = rows.some(({ due }) => {
      const wait = Number(due?.N) - scheduler.now()
      return wait <= SKEW_MS || wait > DUE_HORIZON_MS - SKEW_MS
    })
    return late || (rows.length > 0 && luck('early', scheduler.now()) < 0.3)
  }
  for (let n = 0; n < SWEEPERS; n++) {
    const offset = Math.floor(luck('sweeper', n) * EVERY_MS)
    let waiting = false
    const wait = (): void => {
      if (waiting || !isPending()) return
      waiting = true
      const minute = Math.floor((scheduler.now() - offset) / EVERY_MS) + 1
      scheduler.at(minute * EVERY_MS + offset, tick)
    }
    const tick = (): void => {
      waiting = false
      if (isWorthIt()) sweep()
      wait()
    }
    // A change is told before it can be read.
    outbox.onChange(() => void scheduler.in(5000, wait))
  }
}
