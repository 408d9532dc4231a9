import type { Clock } from '../clock.ts'
import type { InvokeOutcome, LocalFunction } from './function.ts'
import type { Source } from './source.ts'

/** EventBridge Scheduler's event, in short. */
export type ScheduledEvent = { readonly source: 'aws.scheduler'; readonly time: string }

export type Schedule = Source & {
  readonly function: LocalFunction<ScheduledEvent>
  /** Invokes the function now, beside the schedule. */
  readonly run: () => Promise<InvokeOutcome>
}

type ScheduleDependencies = {
  readonly clock: Clock
  readonly function: LocalFunction<ScheduledEvent>
  readonly onActivity: () => void
}

/** Invokes a function each `everyMs` of the clock, first after one such span, whether or not the last one has ended. */
export function createSchedule(
  everyMs: number,
  { clock, function: target, onActivity }: ScheduleDependencies,
): Schedule {
  const stopped = new AbortController()
  const inFlight = new Set<Promise<InvokeOutcome>>()

  const run = (): Promise<InvokeOutcome> => {
    const running = target
      .invoke({ source: 'aws.scheduler', time: new Date(clock.now()).toISOString() })
      .finally(() => {
        inFlight.delete(running)
        onActivity()
      })
    inFlight.add(running)
    return running
  }
  const loop = async (): Promise<void> => {
    for (let next = clock.now() + everyMs; ; next = Math.max(next + everyMs, clock.now())) {
      await clock.sleep(Math.max(0, next - clock.now()), stopped.signal)
      void run()
    }
  }
  const finished = loop().catch(() => {})

  return {
    function: target,
    run,
    pending: () => (inFlight.size === 0 ? [] : [`${inFlight.size} invocations of ${target.name}`]),
    catchUp: async () => {},
    stop: async () => {
      stopped.abort(new Error('the schedule was stopped'))
      await finished
      await target.stop()
      await Promise.all(inFlight)
    },
  }
}
