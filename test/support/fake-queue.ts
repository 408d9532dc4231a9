import type { Clock } from '../../src/clock.ts'
import type { OutgoingMessage, Publisher, PublishOutcome } from '../../src/relay/publisher.ts'

const DEDUPLICATION_MS = 5 * 60_000

export type FakeQueue = Publisher & {
  /** Delivered messages in order: accepted, and no duplicate within five minutes of the clock. */
  readonly delivered: readonly OutgoingMessage[]
  /** All accepted ones, duplicates included. */
  readonly accepted: readonly OutgoingMessage[]
  /** Requests as they came. */
  readonly requests: readonly (readonly OutgoingMessage[])[]
  /** Most requests at a time. */
  readonly concurrent: () => number
  /** While set, every request fails whole with this reason. */
  outage: string | undefined
  /** Content that is refused for good. */
  refuses: (message: OutgoingMessage) => string | undefined
  /** Messages that fail for another reason. */
  fails: (message: OutgoingMessage) => string | undefined
  /** Runs before a request is answered, for example to wait or to end the world. */
  before: (messages: readonly OutgoingMessage[], signal?: AbortSignal) => Promise<unknown>
}

/**
 * A FIFO queue with its five minutes of deduplication on the given clock. It is strict: a request over its limits, or
 * with two entries of one group, is an error of the test, since a real queue might accept the second and not the first.
 */
export function createFakeQueue(
  name: string,
  clock: Pick<Clock, 'now'>,
  limits = { maxEntries: 10, maxBytes: 1_048_576 },
): FakeQueue {
  const seen = new Map<string, number>()
  const delivered: OutgoingMessage[] = []
  const accepted: OutgoingMessage[] = []
  const requests: (readonly OutgoingMessage[])[] = []
  let running = 0
  let most = 0

  const take = (message: OutgoingMessage): PublishOutcome => {
    const refusal = queue.refuses(message)
    if (refusal !== undefined) return { status: 'refused', reason: refusal }
    const failure = queue.fails(message)
    if (failure !== undefined) return { status: 'failed', reason: failure }
    accepted.push(message)
    const last = seen.get(message.deduplicationId)
    if (last !== undefined && clock.now() - last < DEDUPLICATION_MS) return { status: 'accepted' }
    seen.set(message.deduplicationId, clock.now())
    delivered.push(message)
    return { status: 'accepted' }
  }
  const check = (messages: readonly OutgoingMessage[]): void => {
    const bytes = messages.reduce((sum, message) => sum + queue.sizeOf(message), 0)
    if (messages.length === 0 || messages.length > limits.maxEntries) throw new Error('TooManyEntriesInBatchRequest')
    if (messages.length > 1 && bytes > limits.maxBytes) throw new Error('BatchRequestTooLong')
    if (new Set(messages.map(({ groupId }) => groupId)).size < messages.length) throw new Error('a group twice')
  }
  const queue: FakeQueue = {
    name,
    ...limits,
    sizeOf: ({ body }) => Buffer.byteLength(body),
    delivered,
    accepted,
    requests,
    concurrent: () => most,
    outage: undefined,
    refuses: () => undefined,
    fails: () => undefined,
    before: async () => {},
    publish: async (messages, signal) => {
      check(messages)
      requests.push(messages)
      running += 1
      most = Math.max(most, running)
      try {
        await queue.before(messages, signal)
        const { outage } = queue
        if (outage !== undefined) return messages.map(() => ({ status: 'failed', reason: outage }))
        return messages.map(take)
      } finally {
        running -= 1
      }
    },
  }
  return queue
}

/** The order in which the rows of a group arrived, by what `orderedRow` writes as body. */
export function arrivals(queue: FakeQueue, groupId: string): number[] {
  return queue.delivered
    .filter((message) => message.groupId === groupId)
    .map(({ body }) => Number(JSON.parse(body).of.split(' ')[1]))
}
