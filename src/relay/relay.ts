import { checkRecords } from '../settings.ts'
import type { InvocationContext, StreamEvent, StreamResponse } from './lambda-event.ts'
import { relayBatch } from './relay-batch.ts'
import { type RelayOptions, resolveDeps, wireRelay } from './relay-options.ts'
import { beginRun } from './run.ts'

/** Time of a run outside Lambda, and the longest that a relay function may have. Milliseconds. */
const LONGEST_RUN_MS = 120_000

/** A Lambda handler for the outbox table's stream. The mapping needs `ReportBatchItemFailures`. */
export type Relay = (event: StreamEvent, context?: InvocationContext) => Promise<StreamResponse>

/**
 * The stream path: sends what the records hint at, marks it, and leaves to the sweeper what it cannot send. The
 * function's timeout is at most 2 minutes; its last 5 s begin nothing new. Throws only for wrong options, at once.
 */
export function createRelay(options: RelayOptions): Relay {
  const wiring = wireRelay('createRelay', options)
  return async (event, context) => {
    const remaining = Math.min(context?.getRemainingTimeInMillis() ?? LONGEST_RUN_MS, LONGEST_RUN_MS)
    return relayBatch(beginRun(await resolveDeps(wiring), remaining), checkRecords('DynamoDB', event?.Records))
  }
}
