import { PRICES } from './prices.ts'

/** What one event costs in units and requests. */
export type PerEvent = {
  readonly writeUnits: number
  readonly readUnits: number
  readonly sqsRequests: number
  readonly pipesRequests: number
  /** Invocations of a relay and of a consumer: fractions, since they get batches. */
  readonly invocations: number
  /** Bytes of rows and how long they stay, in bytes × months. */
  readonly storedByteMonths: number
}

/** Every invocation is taken to last that long, whoever's it is: a few calls to AWS. Arithmetic, not measured. */
const INVOCATION_SECONDS = 0.1
const INVOCATION_GB = 0.5
const MONTH_DAYS = 30
/** Bytes that DynamoDB counts for an item beyond its content. */
const ITEM_OVERHEAD = 100

/** Dollars for a million events, your own rows and your handler's time not included. */
export function usdPerMillion(event: PerEvent): number {
  const { writeUnits, readUnits, sqsRequests, pipesRequests, invocations, storedByteMonths } = event
  return (
    writeUnits * PRICES.writeUnits +
    readUnits * PRICES.readUnits +
    sqsRequests * PRICES.sqsRequests +
    pipesRequests * PRICES.pipesRequests +
    invocations * (PRICES.invocations + 1e6 * INVOCATION_SECONDS * INVOCATION_GB * PRICES.gbSecond) +
    (storedByteMonths / 1e9) * 1e6 * PRICES.storedGbMonth
  )
}

export function byteMonths(bytes: number, days: number): number {
  return ((bytes + ITEM_OVERHEAD) * days) / MONTH_DAYS
}

/** Requests of a mapping that polls a FIFO queue in batches of ten: it receives and deletes each batch. Arithmetic. */
export const MAPPING_REQUESTS = 0.2
/** Invocations per event: batches of 100 records and of 10 messages. */
const RELAY_INVOCATIONS = 0.01
export const CONSUMER_INVOCATIONS = 0.1
export const INVOCATIONS = RELAY_INVOCATIONS + CONSUMER_INVOCATIONS

/** Days that a relayed row and a handled event's row are kept by default; Powertools keeps its own for an hour. */
export const ROW_DAYS = 7
export const LEDGER_DAYS = 30

/**
 * The peers' side is arithmetic by AWS's rules, written as their documentation shows them: a row of up to 1 KB in the same
 * transaction costs 2 write units, one more where an index entry is written or removed; Powertools' idempotency writes its
 * record twice per message; full batches of ten to and from the queue. Rows are kept as long as ours.
 */
export function peers(rowBytes: number): Readonly<Record<string, PerEvent>> {
  const row = { readUnits: 0, pipesRequests: 0, storedByteMonths: byteMonths(rowBytes, ROW_DAYS) }
  const powertools = 2
  const queue = 0.1 + MAPPING_REQUESTS
  return {
    /** The stream through a pipe: no index, no mark, no second way out. */
    PipesPowertools: {
      ...row,
      writeUnits: 2 + powertools,
      sqsRequests: queue,
      pipesRequests: 1,
      invocations: CONSUMER_INVOCATIONS,
    },
    /** A sparse index of what is pending, and an update of each row: the units are ours, the requests are not. */
    RowByRow: { ...row, writeUnits: 2 + 1 + 1 + 1 + powertools, sqsRequests: queue, invocations: INVOCATIONS },
    /** A relay on the stream that forgets what it sent. */
    NeverMarks: { ...row, writeUnits: 2 + powertools, sqsRequests: queue, invocations: INVOCATIONS },
  }
}

const MINUTES_A_MONTH = MONTH_DAYS * 24 * 60
const POLLS_A_MINUTE = 5 * 3
const SWEEP_SECONDS = 0.3
const LOG_BYTES = 1000
const GAUGES = 3

/** Dollars of a month without an event, one consumer, no alarms and no dashboard, from what one idle sweep consumes. */
export function usdPerIdleMonth(sweep: { readonly readUnits: number; readonly writeUnits: number }): number {
  const perRun =
    (sweep.readUnits * PRICES.readUnits +
      sweep.writeUnits * PRICES.writeUnits +
      PRICES.scheduled +
      PRICES.invocations) /
      1e6 +
    SWEEP_SECONDS * INVOCATION_GB * PRICES.gbSecond +
    (LOG_BYTES / 1e9) * PRICES.logsGb
  return MINUTES_A_MONTH * perRun + usdPerIdlePolling() + GAUGES * PRICES.metricMonth
}

/** What a mapping on a queue costs that nobody writes to: five pollers, a request each 20 s. Ours and everyone's. */
export function usdPerIdlePolling(): number {
  return (MINUTES_A_MONTH * POLLS_A_MINUTE * PRICES.sqsRequests) / 1e6
}
