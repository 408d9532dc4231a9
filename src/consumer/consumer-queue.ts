import type { SqsAttribute } from './sqs-event.ts'

/** What a consumer needs of its queue, beside the messages that Lambda hands it. Nothing here throws. */
export type ConsumerQueue = {
  /** Sets when messages become visible again. One outcome per entry, in order. At most 10 entries. */
  readonly setVisibility: (
    queueArn: string,
    entries: readonly VisibilityEntry[],
  ) => Promise<readonly VisibilityOutcome[]>
  /** Puts a copy into the dead-letter queue. */
  readonly deadLetter: (copy: DeadLetterCopy) => Promise<DeadLetterOutcome>
}

export type VisibilityEntry = {
  readonly receiptHandle: string
  /** From now, 0–43,200. */
  readonly seconds: number
}

/**
 * `lost`: the handle is no longer valid, so the message is somebody else's or gone. `failed`: an outage, a throttle, a
 * missing permission; the message keeps the visibility it had.
 */
export type VisibilityOutcome = 'changed' | 'lost' | 'failed'

export type DeadLetterCopy = {
  readonly body: string
  /** Used by a FIFO dead-letter queue, as is `deduplicationId`. */
  readonly groupId: string
  /** The same for each copy of one event, handler and life, so that a resumed dead-lettering adds none within five minutes. */
  readonly deduplicationId: string
  readonly attributes: Readonly<Record<string, SqsAttribute>>
}

export type DeadLetterOutcome =
  | { readonly status: 'sent' }
  /** `reason` is the AWS error's name. */
  | { readonly status: 'failed'; readonly reason: string }
