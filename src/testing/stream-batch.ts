import type { StreamRecord } from './lambda-events.ts'

/** How Lambda reads what a function answered to a batch of stream records. */
export type StreamVerdict =
  | { readonly status: 'success' }
  | { readonly status: 'failure' }
  /** Everything before `from` is done; `from` and all after it are retried, those that succeeded too. */
  | { readonly status: 'partial'; readonly from: bigint }

/**
 * The checkpoint rule: the lowest sequence number reported is where the batch goes on. An identifier that is not in the
 * batch, not text or empty fails the whole batch; a missing or empty list, or no answer at all, is success.
 */
export function judgeStreamResponse(batch: readonly StreamRecord[], response: unknown): StreamVerdict {
  const items = failureItems(response)
  if (items === undefined) return { status: 'failure' }
  if (items.length === 0) return { status: 'success' }
  const known = new Set(batch.map((record) => record.dynamodb.SequenceNumber))
  if (!items.every((item) => known.has(item))) return { status: 'failure' }
  const [from = 0n] = items.map(BigInt).sort((a, b) => (a < b ? -1 : 1))
  return { status: 'partial', from }
}

/** The identifiers in a partial batch response, of streams and queues alike; undefined for a response of bad form. */
export function failureItems(response: unknown): string[] | undefined {
  if (typeof response !== 'object' || response === null)
    return response === undefined || response === null || response === '' ? [] : undefined
  const { batchItemFailures: items } = response as { batchItemFailures?: unknown }
  if (items === undefined || items === null) return []
  if (!Array.isArray(items)) return undefined
  const identifiers = items.map((item: unknown) => (item as { itemIdentifier?: unknown } | null)?.itemIdentifier)
  return identifiers.every((identifier) => typeof identifier === 'string' && identifier !== '')
    ? (identifiers as string[])
    : undefined
}

/** The records from the checkpoint on. */
export function recordsFrom(batch: readonly StreamRecord[], from: bigint): StreamRecord[] {
  return batch.filter((record) => BigInt(record.dynamodb.SequenceNumber) >= from)
}

/** A batch on its way through retries. */
export type Attempt = { readonly records: readonly StreamRecord[]; readonly retries: number }

export type RetryRules = {
  /** Retries after the first try; infinite for −1. Throttling counts none. */
  readonly maxRetries: number
  readonly bisect: boolean
}

export type NextStep =
  | { readonly step: 'done' }
  /** Wait, then try these in turn. `split`: at once, a split costs no retry. */
  | { readonly step: 'retry'; readonly attempts: readonly Attempt[]; readonly split: boolean }
  | { readonly step: 'discard'; readonly records: readonly StreamRecord[] }

/**
 * What becomes of a batch after its verdict. With `bisect`, a failed batch is halved, and a partly failed one is split at
 * the checkpoint; splitting costs no retry. Whether AWS counts retries anew once a checkpoint advances is not documented:
 * here it does not, the stricter of the two.
 */
export function nextStep(attempt: Attempt, verdict: StreamVerdict, { maxRetries, bisect }: RetryRules): NextStep {
  const { records, retries } = attempt
  if (verdict.status === 'success') return { step: 'done' }
  if (verdict.status === 'failure' && bisect && records.length > 1) {
    const middle = Math.ceil(records.length / 2)
    const attempts = [records.slice(0, middle), records.slice(middle)].map((half) => ({ records: half, retries }))
    return { step: 'retry', attempts, split: true }
  }
  const rest = verdict.status === 'partial' ? recordsFrom(records, verdict.from) : records
  if (bisect && rest.length < records.length)
    return { step: 'retry', attempts: [{ records: rest, retries }], split: true }
  if (maxRetries >= 0 && retries >= maxRetries) return { step: 'discard', records: rest }
  return { step: 'retry', attempts: [{ records: rest, retries: retries + 1 }], split: false }
}
