import { sha256 } from '../event/identity.ts'
import type { QueueRules, WireEntry } from './sqs-rules.ts'

/** SQS remembers a deduplication id for this long after it was first accepted. */
export const DEDUPLICATION_MS = 5 * 60_000

/** What was remembered for an id, for five minutes of the clock from when it was set. */
export type DeduplicationWindow<Value> = {
  readonly get: (key: string, now: number) => Value | undefined
  readonly set: (key: string, value: Value, now: number) => void
}

export function createDeduplicationWindow<Value>(): DeduplicationWindow<Value> {
  const known = new Map<string, { readonly value: Value; readonly until: number }>()
  return {
    get: (key, now) => {
      const entry = known.get(key)
      return entry !== undefined && now <= entry.until ? entry.value : undefined
    },
    set: (key, value, now) => {
      known.delete(key)
      known.set(key, { value, until: now + DEDUPLICATION_MS })
      // Insertion order is time order: what has lapsed stands in front.
      for (const [old, { until }] of known) {
        if (until >= now) break
        known.delete(old)
      }
    },
  }
}

/** The id itself, or the body's SHA-256 where the queue derives it; undefined on a standard queue. */
export function deduplicationId(entry: WireEntry, rules: QueueRules): string | undefined {
  if (!rules.fifo) return undefined
  return entry.MessageDeduplicationId ?? (rules.contentBased ? sha256(entry.MessageBody) : undefined)
}

/** What must repeat for a message to be a duplicate: the id, with scope `messageGroup` in the same group. */
export function deduplicationKey(id: string, entry: WireEntry, rules: QueueRules): string {
  return rules.perGroup ? `${entry.MessageGroupId} ${id}` : id
}
