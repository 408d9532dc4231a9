import type { Message } from '@aws-sdk/client-sqs'
import { checkOptions, invalidSetting } from '../settings.ts'
import { type DeadLetter, groupOf, planRedrive, readDeadLetter } from './dead-letter.ts'
import { createReturns } from './returns.ts'
import { checkQueues, type DeadLetterQueue, remove, send } from './sqs-dead-letter-queue.ts'
import { walkDeadLetters } from './walk-dead-letters.ts'

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
 * leaves is visible to others again at its end. In a FIFO group, what stands behind ten that stay cannot be seen. What comes back dead during the pass is left as well.
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
  const returns = createReturns()
  const move = createMover()
  let redriven = 0
  let failed = 0
  let left = 0
  await walkDeadLetters(queue, async (fresh) => {
    const chosen = fresh.filter((message) => !returns.has(message) && select(readDeadLetter(message)))
    chosen.forEach(returns.add)
    const moved = await move(queue, chosen)
    redriven += moved.length
    failed += chosen.length - moved.length
    left += fresh.length - chosen.length
    return moved
  })
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

/** Sends and deletes messages of a dead-letter queue, request by request; gives what is out of there. */
export type Mover = (queue: DeadLetterQueue, messages: readonly Message[]) => Promise<readonly Message[]>

/** For one pass: nothing of a group is sent after one that was refused, also where only a later page shows it. */
export function createMover(): Mover {
  const stuck = new Set<string>()
  return async (queue, messages) => {
    const groupIn = (message: Message): string => `${queue.queueUrl} ${groupOf(message) ?? message.MessageId}`
    const moved: Message[] = []
    for (const request of planRedrive(messages)) {
      const free = request.filter((message) => !stuck.has(groupIn(message)))
      const accepted = await send(queue, free)
      for (const message of free) if (!accepted.includes(message)) stuck.add(groupIn(message))
      moved.push(...(await remove(queue, accepted)))
    }
    return moved
  }
}
