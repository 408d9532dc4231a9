import { DEFAULT_BACKOFF } from '../../src/backoff.ts'
import type { Clock } from '../../src/clock.ts'
import { createPuller, type Puller, type PullerDeps } from '../../src/outbox/create-puller.ts'
import { createLook } from '../../src/outbox/pull-look.ts'
import type { MetricKey } from '../../src/telemetry.ts'
import { testClock } from './clock.ts'
import { createMemoryPullStore, type MemoryPullStore } from './memory-pull-store.ts'
import { CREATED, REGION } from './pull-rows.ts'

export const LEASE_MS = 60_000

export type PullWorld<Time extends Clock = Clock> = {
  readonly store: MemoryPullStore
  readonly clock: Time
  readonly counts: ReadonlyMap<MetricKey, number>
  /** Error lines of the log. */
  readonly errors: readonly Record<string, unknown>[]
  readonly worker: (workerId?: string, more?: Partial<PullerDeps>) => Puller
}

/** Workers on a table in memory, and on a clock that moves when it is told. */
export function createPullWorld(): PullWorld<ReturnType<typeof testClock>> {
  return pullWorldOn(testClock(CREATED + 1000))
}

export function pullWorldOn<Time extends Clock>(clock: Time): PullWorld<Time> {
  const store = createMemoryPullStore()
  const counts = new Map<MetricKey, number>()
  const errors: Record<string, unknown>[] = []
  return {
    store,
    clock,
    counts,
    errors,
    worker: (workerId = 'w', more = {}) =>
      createPuller({
        store,
        look: createLook(store, 'shop', 0),
        clock,
        logger: { info: () => {}, warn: () => {}, error: (message, fields) => errors.push({ message, ...fields }) },
        telemetry: { count: (metric, value = 1) => counts.set(metric, (counts.get(metric) ?? 0) + value) },
        source: 'shop',
        region: async () => REGION,
        workerId,
        leaseMs: LEASE_MS,
        maxClaims: 3,
        backoff: DEFAULT_BACKOFF,
        isCollecting: () => false,
        ...more,
      }),
  }
}
