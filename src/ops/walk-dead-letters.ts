import type { Message } from '@aws-sdk/client-sqs'
import { type DeadLetterQueue, receive, release } from './sqs-dead-letter-queue.ts'

/** Looks at messages that were not seen before in this pass; gives those that are gone from the queue. */
export type Visit = (messages: readonly Message[]) => Promise<readonly Message[]>

/**
 * One pass over a dead-letter queue, the messages of a group in order. What stays is visible to others again at its end.
 * SQS hands out no more than ten messages of a group before those are gone: in a group, what stands behind ten that stay is
 * not seen. An abort ends it after the page at hand. Throws what `visit` throws, and errors of the AWS SDK as they are.
 */
export async function walkDeadLetters(queue: DeadLetterQueue, visit: Visit, signal?: AbortSignal): Promise<void> {
  const held = createHold()
  try {
    while (!signal?.aborted) {
      const page = held.take(await receive(queue))
      if (!page.goOn) return
      held.drop(await visit(page.fresh))
    }
  } finally {
    await release(queue, held.handles())
  }
}

type Hold = {
  /** Holds a page. `goOn`: there may be messages that were not seen. */
  readonly take: (page: readonly Message[]) => { readonly fresh: readonly Message[]; readonly goOn: boolean }
  readonly drop: (messages: readonly Message[]) => void
  readonly handles: () => readonly string[]
}

/**
 * The messages that are hidden by us, as handles: a message may have 1 MiB. In a long pass they show again and are hidden
 * anew; once more than all of them have come by with nothing new between, there is nothing new.
 */
function createHold(): Hold {
  const handles = new Map<string, string>()
  let known = 0
  return {
    take: (page) => {
      const fresh = page.filter(({ MessageId = '' }) => !handles.has(MessageId))
      for (const { MessageId = '', ReceiptHandle = '' } of page) handles.set(MessageId, ReceiptHandle)
      known = fresh.length > 0 ? 0 : known + page.length
      return { fresh, goOn: page.length > 0 && known <= handles.size }
    },
    drop: (messages) => {
      for (const { MessageId = '' } of messages) handles.delete(MessageId)
    },
    handles: () => [...handles.values()],
  }
}
