import type { InvocationContext } from './lambda-event.ts'
import { type RelayOptions, resolveDeps, wireRelay } from './relay-options.ts'
import { beginRun } from './run.ts'
import { type SweepReport, sweep } from './sweep.ts'

/** Time of a run outside Lambda: the schedule's minute. Milliseconds. */
const DEFAULT_RUN_MS = 60_000

/** A Lambda handler for a schedule of each minute. */
export type Sweeper = (event?: unknown, context?: InvocationContext) => Promise<SweepReport>

/**
 * The backstop of the stream path: finds pending rows that are due by the index and relays them, a backlog included, for
 * as long as the function has time (less its last 5 s). Two at once are safe. Throws `UNAVAILABLE` if the index could not
 * be read as a whole; wrong options throw at once.
 */
export function createSweeper(options: RelayOptions): Sweeper {
  const wiring = wireRelay('createSweeper', options)
  return async (_event, context) => {
    const deps = await resolveDeps(wiring)
    const remaining = context?.getRemainingTimeInMillis() ?? DEFAULT_RUN_MS
    return sweep(beginRun(deps, remaining), deps.region)
  }
}
