import type { Message } from '@aws-sdk/client-sqs'
import { sha256 } from '../event/identity.ts'
import { readDeadLetter } from './dead-letter.ts'

/** What left a dead-letter queue in this pass and has come back. */
export type Returns = { readonly has: (message: Message) => boolean; readonly add: (message: Message) => void }

/**
 * A handler that still fails for good sends its message back here at once: without this a pass would play ball with it for
 * ever. Such a one has the same body and handlers, and was sent after the first was received, both by SQS's clock.
 */
export function createReturns(): Returns {
  const received = new Map<string, number>()
  const nameOf = (message: Message): string => sha256(`${readDeadLetter(message).handlers.join()} ${message.Body}`)
  return {
    has: (message) =>
      Number(message.Attributes?.SentTimestamp) >= (received.get(nameOf(message)) ?? Number.POSITIVE_INFINITY),
    add: (message) => received.set(nameOf(message), Number(message.Attributes?.ApproximateFirstReceiveTimestamp)),
  }
}
