import { on } from '../../src/consumer/handler.ts'
import type { PullWorkerOptions } from '../../src/consumer/pull-worker-options.ts'
import { runPullWorker } from '../../src/consumer/run-pull-worker.ts'
import type { MetricKey } from '../../src/telemetry.ts'
import { createConsumerKit } from './consumer-kit.ts'
import { pullWorldOn } from './pull-world.ts'

export type StartedWorker = {
  /** Ends it, and waits until it has ended. */
  readonly stop: () => Promise<void>
  readonly ended: Promise<void>
}

/** Pull workers on a table and a ledger in memory, on a clock that stands still until it is told to move. */
export function createPullKit() {
  const { ledger, clock, store: entries } = createConsumerKit({ handlers: [on('none', 'none', () => {})] })
  const world = pullWorldOn(clock)
  const counts = new Map<MetricKey, number>()
  const lines: { message: string; fields: Record<string, unknown> }[] = []
  const log = (message: string, fields: Record<string, unknown>) => void lines.push({ message, fields })
  let workers = 0

  const start = (handlers: PullWorkerOptions['handlers'], more: Partial<PullWorkerOptions> = {}): StartedWorker => {
    const stop = new AbortController()
    const ended = runPullWorker({
      name: 'shop',
      pull: world.worker(`w-${++workers}`, { maxClaims: 20 }),
      ledger,
      handlers,
      clock,
      signal: stop.signal,
      logger: { info: log, warn: log, error: log },
      telemetry: { count: (metric, value = 1) => void counts.set(metric, (counts.get(metric) ?? 0) + value) },
      ...more,
    })
    return {
      ended,
      stop: async () => {
        stop.abort()
        await ended
      },
    }
  }

  /** Moves time on in small steps until something holds; fails after `limitMs` of the clock. */
  const until = async (holds: () => boolean, limitMs = 3_600_000): Promise<void> => {
    for (const end = clock.now() + limitMs; !holds(); ) {
      if (clock.now() >= end) throw new Error(`it did not hold within ${limitMs} ms`)
      await clock.advance(50)
    }
  }

  const pass = async (ms: number): Promise<void> => {
    const end = clock.now() + ms
    await until(() => clock.now() >= end, ms + 100)
  }

  return { ...world, entries, ledger, counts, lines, start, until, pass }
}
