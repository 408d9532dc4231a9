import type { Message } from '@aws-sdk/client-sqs'
import { isFifo } from '../queue-url.ts'
import { groupOf } from './dead-letter.ts'
import { countMessages, type DeadLetterQueue, receive, release } from './sqs-dead-letter-queue.ts'

/** Looks at messages that were not seen before in this pass; gives those that are gone from the queue. */
export type Visit = (messages: readonly Message[]) => Promise<readonly Message[]>

/** SQS hands out no more of a group at once. */
const SHOWN_OF_GROUP = 10
/** Groups in a row that showed nothing at all when their turn came: somebody else holds them. */
const SILENT_GROUPS = 3

/**
 * One pass over a dead-letter queue, the messages of a group in order. What stays is visible to others again at its end.
 *
 * In FIFO queues SQS hands out nothing more of a group while some of it are held: what one request had of a group is all that
 * is seen of it at first. If there are more messages than were seen, each group is let go and asked for again, by itself; so
 * ten of each are seen. What stands behind ten that stay cannot be seen at all: `hidden` counts it, by SQS's approximate count.
 *
 * An abort ends it after the page at hand. Throws what `visit` throws, and errors of the AWS SDK as they are.
 */
export async function walkDeadLetters(
  queue: DeadLetterQueue,
  visit: Visit,
  signal?: AbortSignal,
): Promise<{ readonly hidden: number }> {
  const hold = createHold()
  try {
    while (!signal?.aborted) {
      const page = hold.take(await receive(queue))
      if (!page.goOn) break
      hold.drop(await visit(page.fresh))
    }
    return { hidden: isFifo(queue.queueUrl) ? await askByGroup(queue, { hold, visit, signal }) : 0 }
  } finally {
    await release(queue, hold.handles())
  }
}

type Asked = { readonly hold: Hold; readonly visit: Visit; readonly signal: AbortSignal | undefined }

/** Gives how many messages are known to be there and were not seen. */
async function askByGroup(queue: DeadLetterQueue, { hold, visit, signal }: Asked): Promise<number> {
  let missing = (await countMessages(queue)) - hold.handles().length
  let silent = 0
  for (const group of hold.groups()) {
    if (missing <= 0 || silent === SILENT_GROUPS || signal?.aborted) break
    await release(queue, hold.handles(group))
    const messages = await receive(queue)
    silent = messages.length === 0 ? silent + 1 : 0
    const { fresh } = hold.take(messages)
    if (fresh.length > 0) hold.drop(await visit(fresh))
    missing -= fresh.length
  }
  return Math.max(0, missing)
}

type Hold = {
  /** Holds a page. `goOn`: there may be messages that were not seen. */
  readonly take: (page: readonly Message[]) => { readonly fresh: readonly Message[]; readonly goOn: boolean }
  readonly drop: (messages: readonly Message[]) => void
  /** Of one group, or of all. */
  readonly handles: (group?: string) => readonly string[]
  /** Those that may have more to show, the largest first. */
  readonly groups: () => readonly string[]
}

/**
 * The messages that are hidden by us, as handles: a message may have 1 MiB. In a long pass they show again and are hidden
 * anew; once more than all of them have come by with nothing new between, there is nothing new.
 */
function createHold(): Hold {
  const held = new Map<string, { readonly handle: string; readonly group: string }>()
  let known = 0
  return {
    take: (page) => {
      const fresh = page.filter(({ MessageId = '' }) => !held.has(MessageId))
      for (const message of page) {
        const { MessageId = '', ReceiptHandle: handle = '' } = message
        held.set(MessageId, { handle, group: groupOf(message) ?? '' })
      }
      known = fresh.length > 0 ? 0 : known + page.length
      return { fresh, goOn: page.length > 0 && known <= held.size }
    },
    drop: (messages) => {
      for (const { MessageId = '' } of messages) held.delete(MessageId)
    },
    handles: (group) =>
      [...held.values()].flatMap((one) => (group === undefined || one.group === group ? [one.handle] : [])),
    groups: () => {
      const sizes = new Map<string, number>()
      for (const { group } of held.values()) sizes.set(group, (sizes.get(group) ?? 0) + 1)
      const open = [...sizes].filter(([, size]) => size < SHOWN_OF_GROUP)
      return open.sort(([, a], [, b]) => b - a).map(([group]) => group)
    },
  }
}
