import type { Clock } from '../clock.ts'
import { createQueueState, type HandleResult, type QueueDepth, type StoredMessage } from './queue-state.ts'
import { MAX_BATCH_BYTES, type QueueRules } from './sqs-rules.ts'

/** A queue on the clock's time: what was accepted, what is hidden, and where messages go that were received too often. */
export type LocalQueue = {
  readonly name: string
  readonly url: string
  readonly arn: string
  readonly fifo: boolean
  readonly rules: () => QueueRules
  readonly visibilityMs: () => number
  /** As `CreateQueue` and `SetQueueAttributes` give them. */
  readonly setAttributes: (attributes: Readonly<Record<string, string>>) => void
  /** Takes a message that the service accepted. */
  readonly accept: (message: AcceptedMessage) => void
  readonly receive: (max: number, visibilityMs?: number) => StoredMessage[]
  readonly delete: (handle: string) => HandleResult
  readonly changeVisibility: (handle: string, visibilityMs: number) => HandleResult
  readonly depth: () => QueueDepth
  /**
   * The first moment after `since` at which a hidden message shows. Give the time from before the receive that found
   * nothing: what has shown since then would be missed otherwise.
   */
  readonly nextVisibleAt: (since: number) => number | undefined
  readonly purge: () => void
  /** While true, nothing is handed out: an event source cannot poll a service that is down. */
  readonly setOutage: (down: boolean) => void
  /** Calls `listener` whenever a message may have become free; returns what ends that. */
  readonly onChange: (listener: () => void) => () => void
}

export type AcceptedMessage = Omit<StoredMessage, 'sentAt' | 'visibleAt' | 'receiveCount'> & {
  readonly delaySeconds?: number
}

export type QueueOptions = {
  readonly name: string
  readonly url: string
  readonly arn: string
  readonly attributes: Readonly<Record<string, string>>
  readonly clock: Clock
  /** Finds the dead-letter queue. */
  readonly findByArn: (arn: string) => LocalQueue | undefined
}

export function createLocalQueue({ name, url, arn, attributes: initial, clock, findByArn }: QueueOptions): LocalQueue {
  const fifo = name.endsWith('.fifo')
  const state = createQueueState({ fifo })
  const listeners = new Set<() => void>()
  let attributes: Readonly<Record<string, string>> = initial
  let isDown = false

  const changed = (): void => {
    for (const listener of [...listeners]) listener()
  }
  const number = (key: string, fallback: number): number => Number(attributes[key] ?? fallback)
  const visibilityMs = (): number => number('VisibilityTimeout', 30) * 1000

  /** In the dead-letter queue the deduplication id is the message's own id, so that no two messages ever merge there. */
  const moveTo = (target: LocalQueue, message: StoredMessage): void => {
    const { messageId, body, md5OfBody, attributes: kept, groupId, sequenceNumber } = message
    const ids = groupId === undefined ? {} : { groupId, deduplicationId: messageId }
    const order = sequenceNumber === undefined ? {} : { sequenceNumber }
    target.accept({ messageId, body, md5OfBody, attributes: kept, ...ids, ...order, deadLetterSource: arn })
  }

  const deadLetterRule = (): { maxReceiveCount: number; deadLetter: (message: StoredMessage) => void } | undefined => {
    const policy = parsePolicy(attributes.RedrivePolicy)
    const target = policy && findByArn(policy.deadLetterTargetArn)
    return (
      target && { maxReceiveCount: Number(policy.maxReceiveCount), deadLetter: (message) => moveTo(target, message) }
    )
  }

  return {
    name,
    url,
    arn,
    fifo,
    visibilityMs,
    rules: () => ({
      fifo,
      contentBased: attributes.ContentBasedDeduplication === 'true',
      perGroup: attributes.DeduplicationScope === 'messageGroup',
      maxMessageBytes: number('MaximumMessageSize', MAX_BATCH_BYTES),
    }),
    setAttributes: (more) => {
      attributes = { ...attributes, ...more }
    },
    accept: ({ delaySeconds = number('DelaySeconds', 0), ...message }) => {
      const now = clock.now()
      state.add({ ...message, sentAt: now, visibleAt: now + delaySeconds * 1000, receiveCount: 0 })
      changed()
    },
    receive: (max, hidden = visibilityMs()) =>
      isDown ? [] : state.receive({ max, now: clock.now(), visibilityMs: hidden, ...deadLetterRule() }),
    delete: (handle) => {
      const result = state.delete(handle, clock.now())
      changed()
      return result
    },
    changeVisibility: (handle, hiddenMs) => {
      const result = state.changeVisibility(handle, hiddenMs, clock.now())
      changed()
      return result
    },
    depth: () => state.depth(clock.now()),
    nextVisibleAt: state.nextVisibleAt,
    purge: () => state.purge(),
    setOutage: (down) => {
      isDown = down
      changed()
    },
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

type RedrivePolicy = { readonly deadLetterTargetArn: string; readonly maxReceiveCount: number | string }

function parsePolicy(text: string | undefined): RedrivePolicy | undefined {
  return text ? (JSON.parse(text) as RedrivePolicy) : undefined
}
