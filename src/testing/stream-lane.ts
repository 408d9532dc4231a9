import type { Clock } from '../clock.ts'
import type { InvokeOutcome, LocalFunction } from './function.ts'
import type { StreamEvent, StreamRecord } from './lambda-events.ts'
import { type Attempt, judgeStreamResponse, nextStep, type StreamVerdict } from './stream-batch.ts'
import type { StreamSettings } from './stream-settings.ts'

/** Records that are handed over one batch after the other. */
export type StreamLane = {
  readonly push: (record: StreamRecord) => void
  /** Records not yet done, those in flight included. */
  readonly pending: () => number
  readonly stop: () => Promise<void>
}

type LaneDependencies = {
  readonly clock: Clock
  readonly function: LocalFunction<StreamEvent>
  readonly onActivity: () => void
  readonly stopped: AbortSignal
}

/** Lambda's limit on the payload of one invocation, bytes. */
const MAX_PAYLOAD_BYTES = 6 * 1_048_576
const FIRST_RETRY_MS = 100
const LONGEST_RETRY_MS = 30_000

/**
 * One batch at a time, retried until it is done or given up: nothing later of the lane runs before. Throttling is retried
 * without counting. Delays between retries double from 100 ms to 30 s of the clock.
 */
export function createStreamLane(
  settings: StreamSettings,
  { clock, function: target, onActivity, stopped }: LaneDependencies,
): StreamLane {
  const { batchSize = 100, windowMs = 0, maxRetries = -1, maxAgeMs = Number.POSITIVE_INFINITY } = settings
  const { bisect = false, reportBatchItemFailures = false, onFailure = () => {} } = settings
  const waiting: StreamRecord[] = []
  let inFlight = 0
  let running: Promise<void> | undefined

  const judge = (records: readonly StreamRecord[], outcome: InvokeOutcome): StreamVerdict | 'throttled' => {
    if (outcome.status === 'throttled') return 'throttled'
    if (outcome.status !== 'ok') return { status: 'failure' }
    return reportBatchItemFailures ? judgeStreamResponse(records, outcome.response) : { status: 'success' }
  }

  const dropExpired = (attempt: Attempt): Attempt => {
    const isFresh = ({ dynamodb }: StreamRecord): boolean =>
      clock.now() - dynamodb.ApproximateCreationDateTime * 1000 <= maxAgeMs
    const fresh = attempt.records.filter(isFresh)
    if (fresh.length === attempt.records.length) return attempt
    const records = attempt.records.filter((record) => !isFresh(record))
    onFailure({ condition: 'MaximumRecordAgeExceeded', records })
    return { records: fresh, retries: attempt.retries }
  }

  const pause = (tries: number): Promise<void> =>
    clock.sleep(Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** tries), stopped).catch(() => {})

  /** Runs one attempt and answers with those that take its place. */
  const attemptOnce = async (given: Attempt): Promise<readonly Attempt[]> => {
    const attempt = dropExpired(given)
    if (attempt.records.length === 0) return []
    const outcome = await target.invoke({ Records: [...attempt.records] })
    onActivity()
    const verdict = judge(attempt.records, outcome)
    if (verdict === 'throttled') {
      await pause(0)
      return [attempt]
    }
    const next = nextStep(attempt, verdict, { maxRetries, bisect })
    if (next.step === 'done') return []
    if (next.step === 'discard') {
      onFailure({ condition: 'RetryAttemptsExhausted', records: next.records })
      return []
    }
    if (!next.split) await pause(attempt.retries)
    return next.attempts
  }

  const runBatch = async (records: readonly StreamRecord[]): Promise<void> => {
    let attempts: readonly Attempt[] = [{ records, retries: 0 }]
    while (attempts.length > 0 && !stopped.aborted) {
      const [first, ...later] = attempts as readonly [Attempt, ...Attempt[]]
      attempts = [...(await attemptOnce(first)), ...later]
      inFlight = attempts.reduce((sum, attempt) => sum + attempt.records.length, 0)
    }
    inFlight = 0
  }

  const drain = async (): Promise<void> => {
    // Let whoever pushes finish first. `running` is cleared in the turn in which nothing is left: no push goes unseen.
    await null
    while (waiting.length > 0 && !stopped.aborted) {
      if (windowMs > 0 && waiting.length < batchSize) await clock.sleep(windowMs, stopped).catch(() => {})
      const batch = takeBatch(waiting, batchSize)
      inFlight = batch.length
      await runBatch(batch)
    }
    running = undefined
  }

  return {
    push: (record) => {
      waiting.push(record)
      running ??= drain()
    },
    pending: () => waiting.length + inFlight,
    stop: async () => {
      await running
    },
  }
}

/** Removes the next batch: at most `size` records, and 6 MB, but at least one. */
function takeBatch(waiting: StreamRecord[], size: number): StreamRecord[] {
  let bytes = 0
  let count = 0
  for (const record of waiting) {
    bytes += Buffer.byteLength(JSON.stringify(record))
    if (count === size || (count > 0 && bytes > MAX_PAYLOAD_BYTES)) break
    count += 1
  }
  return waiting.splice(0, count)
}
