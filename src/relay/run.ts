import type { Clock } from '../clock.ts'
import { createPool } from '../pool.ts'
import type { Logger, MetricKey, Telemetry } from '../telemetry.ts'
import { createMarker, type Marker } from './marker.ts'
import type { Routing } from './routes.ts'
import type { PendingRow } from './row-image.ts'
import type { RowStore } from './row-store.ts'
import { createSender, type Sender } from './sender.ts'
import { createTimeBudget } from './time-budget.ts'

/** Nothing is sent from a read older than this: the broker still knows what others sent meanwhile. Milliseconds. */
export const READ_AGE_MS = 60_000
/** Reads of the table under way at once: each may bring 1 MB. */
const CONCURRENT_READS = 16

/** What relay and sweeper are given once. */
export type RelayDeps = {
  readonly store: RowStore
  readonly routing: Routing
  /** The Regions whose rows are sent. */
  readonly regions: ReadonlySet<string>
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly logger: Logger
  /** How long a relayed row is kept. */
  readonly keepSeconds: number
}

/** One invocation: its time, its senders (and what they learned of their destinations), its marks. */
export type Run = {
  readonly clock: Clock
  readonly telemetry: Telemetry
  readonly logger: Logger
  readonly regions: ReadonlySet<string>
  readonly senders: ReadonlyMap<string, Sender>
  readonly destinationsOf: (row: PendingRow) => readonly string[]
  readonly marker: Marker
  /** Asks the table once, within the time. Throws if it does not answer. */
  readonly ask: <T>(request: (store: RowStore, signal: AbortSignal) => Promise<T>) => Promise<T>
  /** True once no new work may begin: the time is up, or no destination answers. */
  readonly over: () => boolean
  readonly timeIsUp: () => boolean
  /** What was counted so far. */
  readonly counted: (metric: MetricKey) => number
}

/** `remainingMs` is the time that the invocation has left. */
export function beginRun(deps: RelayDeps, remainingMs: number): Run {
  const { store, routing, regions, clock, logger, keepSeconds } = deps
  const counts = new Map<MetricKey, number>()
  const telemetry: Telemetry = {
    count: (metric, value = 1) => {
      counts.set(metric, (counts.get(metric) ?? 0) + value)
      deps.telemetry.count(metric, value)
    },
  }
  const budget = createTimeBudget(clock, remainingMs)
  const senders = new Map(
    routing.publishers.map((publisher) => [
      publisher.name,
      createSender({ publisher, clock, budget, telemetry, logger }),
    ]),
  )
  const reads = createPool(CONCURRENT_READS)
  return {
    clock,
    telemetry,
    logger,
    regions,
    senders,
    destinationsOf: routing.destinationsOf,
    marker: createMarker({ store, clock, budget, telemetry, logger, keepSeconds }),
    ask: (request) => reads.run(() => budget.call((signal) => request(store, signal))),
    over: () => budget.over() || [...senders.values()].every((sender) => sender.paused()),
    timeIsUp: budget.over,
    counted: (metric) => counts.get(metric) ?? 0,
  }
}
