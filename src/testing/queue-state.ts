import type { WireAttribute } from './sqs-rules.ts'

/** A message as a queue keeps it. Times in the clock's milliseconds. */
export type StoredMessage = {
  readonly messageId: string
  readonly body: string
  readonly md5OfBody: string
  readonly attributes: Readonly<Record<string, WireAttribute>>
  /** FIFO only, as are the two below. */
  readonly groupId?: string
  readonly deduplicationId?: string
  readonly sequenceNumber?: string
  readonly sentAt: number
  readonly deadLetterSource?: string
  receiveCount: number
  firstReceivedAt?: number
  receivedAt?: number
  /** Up to then it is invisible: received, put off or delayed. */
  visibleAt: number
  /** Of the latest receive. */
  handle?: string
}

export type HandleResult =
  | 'ok'
  /** Once valid, but its visibility has ended, or the message was received again or deleted. */
  | 'expired'
  /** Never given out. */
  | 'unknown'
  /** Would be invisible for more than 12 hours in all. */
  | 'too-long'

export type QueueState = {
  readonly add: (message: StoredMessage) => void
  /** Up to `max` messages that are free at `now`, hidden for `visibilityMs` from then. */
  readonly receive: (request: ReceiveRequest) => StoredMessage[]
  readonly delete: (handle: string, now: number) => HandleResult
  readonly changeVisibility: (handle: string, visibilityMs: number, now: number) => HandleResult
  readonly depth: (now: number) => QueueDepth
  /** The first moment after `now` at which a hidden message shows; undefined if none is hidden. */
  readonly nextVisibleAt: (now: number) => number | undefined
  readonly purge: () => void
}

export type ReceiveRequest = {
  readonly max: number
  readonly now: number
  readonly visibilityMs: number
  /** Messages received this many times are handed to `deadLetter` instead. Default: no limit. */
  readonly maxReceiveCount?: number
  readonly deadLetter?: (message: StoredMessage) => void
}

export type QueueDepth = { readonly visible: number; readonly invisible: number; readonly delayed: number }

const LONGEST_INVISIBLE_MS = 12 * 3_600_000

/**
 * The messages of one queue under SQS's rules; every method takes the time. In a FIFO queue a group is blocked while any
 * message of it is invisible, and its messages are handed out in order, several at once. A standard queue is the same
 * with each message a group of its own.
 */
export function createQueueState({ fifo }: { readonly fifo: boolean }): QueueState {
  const groups = new Map<string, StoredMessage[]>()
  const handles = new Map<string, StoredMessage>()
  const spent = new Set<string>()
  let received = 0

  const groupOf = (message: StoredMessage): string => (fifo ? (message.groupId ?? '') : message.messageId)
  const all = (): StoredMessage[] => [...groups.values()].flat()

  const remove = (message: StoredMessage): void => {
    const rest = (groups.get(groupOf(message)) ?? []).filter((other) => other !== message)
    if (rest.length === 0) groups.delete(groupOf(message))
    else groups.set(groupOf(message), rest)
    retire(message)
  }
  const retire = (message: StoredMessage): void => {
    if (message.handle === undefined) return
    handles.delete(message.handle)
    spent.add(message.handle)
  }
  const find = (handle: string): StoredMessage | 'expired' | 'unknown' =>
    handles.get(handle) ?? (spent.has(handle) ? 'expired' : 'unknown')

  const hand = (message: StoredMessage, { now, visibilityMs }: ReceiveRequest): void => {
    retire(message)
    received += 1
    message.handle = `${message.messageId}.${received}`
    message.receiveCount += 1
    message.receivedAt = now
    message.firstReceivedAt ??= now
    message.visibleAt = now + visibilityMs
    handles.set(message.handle, message)
  }

  return {
    add: (message) => {
      const group = groups.get(groupOf(message)) ?? []
      // Two requests may be answered in another order than they were applied: the sequence number decides.
      const at = group.findLastIndex((other) => (other.sequenceNumber ?? '') <= (message.sequenceNumber ?? ''))
      group.splice(at + 1, 0, message)
      groups.set(groupOf(message), group)
    },
    receive: (request) => {
      const taken: StoredMessage[] = []
      for (const group of [...groups.values()]) {
        if (taken.length >= request.max) break
        if (isBlocked(group, request.now)) continue
        for (const message of [...group]) {
          if (taken.length >= request.max || message.visibleAt > request.now) break
          if (message.receiveCount >= (request.maxReceiveCount ?? Number.POSITIVE_INFINITY)) {
            remove(message)
            request.deadLetter?.(message)
            continue
          }
          hand(message, request)
          taken.push(message)
        }
      }
      return taken
    },
    delete: (handle, now) => {
      const message = find(handle)
      if (typeof message === 'string') return message
      if (fifo && message.visibleAt <= now) return 'expired'
      remove(message)
      return 'ok'
    },
    changeVisibility: (handle, visibilityMs, now) => {
      const message = find(handle)
      if (typeof message === 'string') return message
      if (message.visibleAt <= now) return 'expired'
      if (now + visibilityMs > (message.receivedAt ?? now) + LONGEST_INVISIBLE_MS) return 'too-long'
      message.visibleAt = now + visibilityMs
      return 'ok'
    },
    depth: (now) => {
      const hidden = all().filter((message) => message.visibleAt > now)
      const delayed = hidden.filter((message) => message.receiveCount === 0).length
      return { visible: all().length - hidden.length, invisible: hidden.length - delayed, delayed }
    },
    nextVisibleAt: (now) => {
      const times = all().flatMap((message) => (message.visibleAt > now ? [message.visibleAt] : []))
      return times.length === 0 ? undefined : times.reduce((first, time) => Math.min(first, time))
    },
    purge: () => {
      for (const message of all()) remove(message)
    },
  }
}

/** A delayed message hides only itself and what follows; one that was received blocks its group. */
function isBlocked(group: readonly StoredMessage[], now: number): boolean {
  return group.some((message) => message.receiveCount > 0 && message.visibleAt > now)
}
