import type { FilterPattern } from './event-filter.ts'
import type { StreamRecord } from './lambda-events.ts'

/** The settings of an event source mapping on a stream; defaults are Lambda's. */
export type StreamSettings = {
  /** 1–10,000. Default 100. */
  readonly batchSize?: number
  /** How long a batch gathers, ms of the clock. Default 0. */
  readonly windowMs?: number
  /** Patterns of which one must match; records that match none are skipped. Default: all records. */
  readonly filter?: FilterPattern | readonly FilterPattern[]
  /** Batches in flight at once, 1–10; records of one item stay in order. Default 1. */
  readonly parallelization?: number
  /** Retries of a failed batch before its records are discarded; −1 is without end. Default −1. */
  readonly maxRetries?: number
  /** Records older than this are discarded, ms of the clock. Default: none. */
  readonly maxAgeMs?: number
  /** Halve a failed batch. Default false. */
  readonly bisect?: boolean
  /** Read the answer as a partial batch response. Default false. */
  readonly reportBatchItemFailures?: boolean
  /** Default TRIM_HORIZON. */
  readonly startingPosition?: 'TRIM_HORIZON' | 'LATEST'
  /** Hears of discarded records, as a failure destination does. */
  readonly onFailure?: (discarded: DiscardedRecords) => void
  /** What the source makes of the records it read: drop, double or shuffle them here. */
  readonly faults?: (records: StreamRecord[]) => StreamRecord[]
}

export type DiscardedRecords = {
  readonly condition: 'RetryAttemptsExhausted' | 'MaximumRecordAgeExceeded'
  readonly records: readonly StreamRecord[]
}
