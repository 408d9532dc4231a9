import { invalidSetting } from '../settings.ts'

/**
 * The port behind which a destination stands: SQS here, others by anyone. A publisher knows its service's limits and
 * errors; it knows nothing of rows.
 */
export type Publisher = {
  /** Name of the destination, recorded in a row's `accepted`: 1–64 characters, never changed. */
  readonly name: string
  /** Most entries in one request. */
  readonly maxEntries: number
  /** Most bytes in one request, as the service counts them. */
  readonly maxBytes: number
  /** Bytes of one entry as the service counts them, attributes included. */
  readonly sizeOf: (message: OutgoingMessage) => number
  /**
   * Sends one request. Answers with exactly one outcome per message, in order: a message in neither list of the
   * service's answer is `failed`. Never throws: an error of the whole request is `failed` (or `refused`, where the code
   * is on the closed list of content errors) for each of its messages.
   */
  readonly publish: (messages: readonly OutgoingMessage[], signal?: AbortSignal) => Promise<readonly PublishOutcome[]>
}

export type OutgoingMessage = {
  /** Event id, plus `-r<n>` after the n-th redrive or replay. */
  readonly deduplicationId: string
  /** Event id (unordered) or `source/group` (ordered; `h-` and its SHA-256 when over 128). */
  readonly groupId: string
  readonly body: string
  /** Text of a life note: a replay, for the handlers it names. Where a destination has no place for it, it is left out. */
  readonly note?: string
  /** Undefined for foreign rows. */
  readonly source?: string
  readonly type?: string
}

export type PublishOutcome =
  | { readonly status: 'accepted' }
  /** The service will never take this content: the row is dead-lettered with the reason. */
  | { readonly status: 'refused'; readonly reason: string }
  /** Anything else, permissions and keys included: an outage. The row stays pending. */
  | { readonly status: 'failed'; readonly reason: string }

/** Refuses (`INVALID_SETTING`) a name that cannot be recorded in a row. */
export function checkDestinationName(path: string, name: unknown): void {
  if (typeof name === 'string' && name.length >= 1 && name.length <= 64) return
  throw invalidSetting(path, "must have 1 to 64 characters; give one where the destination's own name is longer")
}
