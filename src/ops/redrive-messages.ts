import type { Message } from '@aws-sdk/client-sqs'
import { sha256 } from '../event/identity.ts'
import { checkOptions, invalidSetting } from '../settings.ts'
import { type DeadLetter, groupOf, planRedrive, readDeadLetter } from './dead-letter.ts'
import { checkQueues, type DeadLetterQueue, receive, release, remove, send } from './sqs-dead-letter-queue.ts'

/** What one pass over a dead-letter queue did with the messages it saw. */
export type RedriveReport = {
  /** Back in their queue, and gone from the dead-letter queue. */
  readonly redriven: number
  /** Not accepted by their queue, or accepted but not deleted here: still here, and safe to redrive again. */
  readonly failed: number
  /** Looked at and left. */
  readonly left: number
}

/**
 * Moves the messages that `select` picks from a dead-letter queue back into their queue, those of a group in order. What it
 * leaves is visible to others again at its end. SQS hands out no more than ten messages of a group before those are gone:
 * in a group, what stands behind ten that stay is not seen. What comes back dead during the pass is left as well.
 *
 * A message is deleted here only once its queue has accepted it. Dying in between leaves it in both; redriven again, the
 * queue drops it within five minutes and the ledger after that. Two passes at once see different messages. Throws
 * `INVALID_SETTING`, what `select` throws, and errors of the AWS SDK as they are; what was moved by then stays moved.
 */
export async function redriveMessages(
  queue: DeadLetterQueue,
  select: (letter: DeadLetter) => boolean,
): Promise<RedriveReport> {
  checkQueues('redriveMessages', queue)
  const held = createHold()
  const returns = createReturns()
  let redriven = 0
  let failed = 0
  let left = 0
  try {
    for (let page = held.take(await receive(queue)); page.goOn; page = held.take(await receive(queue))) {
      const chosen = page.fresh.filter((message) => !returns.has(message) && select(readDeadLetter(message)))
      chosen.forEach(returns.add)
      const moved = await move(queue, chosen)
      held.drop(moved)
      redriven += moved.length
      failed += chosen.length - moved.length
      left += page.fresh.length - chosen.length
    }
  } finally {
    await release(queue, held.handles())
  }
  return { redriven, failed, left }
}

/** Moves one event's dead letters, of one handler (`consumer/handler`) or of all. As {@link redriveMessages} for the rest. */
export async function redriveMessage(
  queue: DeadLetterQueue,
  letter: { readonly id: string; readonly handler?: string },
): Promise<RedriveReport> {
  checkOptions('redriveMessage', letter, ['id', 'handler'])
  const { id, handler } = letter
  if (typeof id !== 'string' || id === '') throw invalidSetting('id', 'must be the id of an event')
  if (handler !== undefined && !/^[^/]+\/[^/]+$/.test(handler))
    throw invalidSetting('handler', 'must be the name of a consumer and of a handler, "consumer/handler"')
  return redriveMessages(queue, (one) => one.id === id && (handler === undefined || one.handlers.includes(handler)))
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

type Returns = { readonly has: (message: Message) => boolean; readonly add: (message: Message) => void }

/**
 * What went back in this pass. A handler that still fails for good sends its message here again at once: without this the
 * two would play ball for ever. Such a one has the same body and handlers, and was sent after the first was received, both
 * by SQS's clock.
 */
function createReturns(): Returns {
  const received = new Map<string, number>()
  const nameOf = (message: Message): string => sha256(`${readDeadLetter(message).handlers.join()} ${message.Body}`)
  return {
    has: (message) =>
      Number(message.Attributes?.SentTimestamp) >= (received.get(nameOf(message)) ?? Number.POSITIVE_INFINITY),
    add: (message) => received.set(nameOf(message), Number(message.Attributes?.ApproximateFirstReceiveTimestamp)),
  }
}

/** Sends and deletes, request by request; gives what is out of here. Nothing of a group is sent after one that was refused. */
async function move(queue: DeadLetterQueue, messages: readonly Message[]): Promise<readonly Message[]> {
  const moved: Message[] = []
  const stuck = new Set<string | undefined>()
  for (const request of planRedrive(messages)) {
    const free = request.filter((message) => !stuck.has(groupOf(message)))
    const accepted = await send(queue, free)
    for (const message of free) if (!accepted.includes(message) && groupOf(message)) stuck.add(groupOf(message))
    moved.push(...(await remove(queue, accepted)))
  }
  return moved
}
