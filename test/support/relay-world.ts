import type { StreamRecord } from '../../src/relay/lambda-event.ts'
import { relayBatch } from '../../src/relay/relay-batch.ts'
import { compileRoutes, type Route } from '../../src/relay/routes.ts'
import type { RowImage } from '../../src/relay/row-image.ts'
import { beginRun, type RelayDeps } from '../../src/relay/run.ts'
import { type SweepReport, sweep } from '../../src/relay/sweep.ts'
import type { Logger, MetricKey } from '../../src/telemetry.ts'
import { createManualClock, type ManualClock } from '../../src/testing/manual-clock.ts'
import { streamRecord } from '../../src/testing/records.ts'
import { createFakeQueue, type FakeQueue } from './fake-queue.ts'
import { createMemoryRowStore, type MemoryRowStore } from './memory-row-store.ts'
import { REGION } from './outbox-rows.ts'

export type LogLine = { readonly level: string; readonly message: string; readonly fields: Record<string, unknown> }

export type RelayWorld = {
  readonly store: MemoryRowStore
  readonly queue: FakeQueue
  readonly clock: ManualClock
  readonly counts: Map<MetricKey, number>
  readonly log: LogLine[]
  readonly deps: RelayDeps
  /** Stores the rows and hands their records to the relay. */
  readonly relay: (images: readonly RowImage[], options?: { remainingMs?: number }) => Promise<string[]>
  /** Hands records over as they are. Gives the numbers that were reported. */
  readonly relayRecords: (records: readonly StreamRecord[], options?: { remainingMs?: number }) => Promise<string[]>
  readonly sweep: (options?: { remainingMs?: number }) => Promise<SweepReport>
}

/** Relay and sweeper on the store in memory and one strict queue (or the given routes), on a clock that moves as they wait. */
export function createRelayWorld(
  options: { routes?: (queue: FakeQueue, clock: ManualClock) => Route[]; regions?: string[] } = {},
): RelayWorld {
  const clock = createManualClock()
  const store = createMemoryRowStore()
  const queue = createFakeQueue('queue', clock)
  const counts = new Map<MetricKey, number>()
  const log: LogLine[] = []
  const line = (level: string) => (message: string, fields: Record<string, unknown>) =>
    log.push({ level, message, fields })
  const logger: Logger = { info: line('info'), warn: line('warn'), error: line('error') }
  const deps: RelayDeps = {
    store,
    clock,
    logger,
    routing: compileRoutes(options.routes?.(queue, clock) ?? [{ to: queue }]),
    regions: new Set(options.regions ?? [REGION]),
    telemetry: { count: (metric, value = 1) => counts.set(metric, (counts.get(metric) ?? 0) + value) },
    keepSeconds: 604_800,
  }
  const relayRecords: RelayWorld['relayRecords'] = async (records, { remainingMs = 120_000 } = {}) => {
    const { batchItemFailures } = await driven(clock, relayBatch(beginRun(deps, remainingMs), records))
    return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
  }
  return {
    store,
    queue,
    clock,
    counts,
    log,
    deps,
    relayRecords,
    relay: (images, given) => {
      for (const image of images) store.put(image)
      return relayRecords(records(images), given)
    },
    sweep: ({ remainingMs = 60_000 } = {}) => driven(clock, sweep(beginRun(deps, remainingMs), REGION)),
  }
}

/** One record per row, numbered from 1. */
export function records(images: readonly RowImage[]): StreamRecord[] {
  return images.map((image, index) => streamRecord({ newImage: image as never, sequence: index + 1 }) as StreamRecord)
}

/** A record's number as `records` gives it. */
export function numbered(number: number): string {
  return String(number).padStart(21, '0')
}

/** Moves the clock on, a little at a time, until the promise settles: sleeps end, and time limits too. */
export async function driven<T>(clock: ManualClock, promise: Promise<T>, step = 20): Promise<T> {
  let open = true
  const settled = promise.finally(() => {
    open = false
  })
  settled.catch(() => {})
  while (open) await clock.advance(step)
  return settled
}
