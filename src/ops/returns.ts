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
  const nameOf = (handlers: readonly string[], { Body }: Message): string => sha256(`${handlers.join()} ${Body}`)
  // What named no handler comes back once for each that has given up.
  const namesOf = (message: Message): string[] =>
    [readDeadLetter(message).handlers, []].map((handlers) => nameOf(handlers, message))
  return {
    has: (message) => {
      const sent = Number(message.Attributes?.SentTimestamp)
      return namesOf(message).some((name) => sent >= (received.get(name) ?? Number.POSITIVE_INFINITY))
    },
    add: (message) =>
      received.set(
        nameOf(readDeadLetter(message).handlers, message),
        Number(message.Attributes?.ApproximateFirstReceiveTimestamp),
      ),
  }
}
