import { sha256 } from '../event/identity.ts'
import { encodeLifeNote, LIFE_ATTRIBUTE } from '../event/life.ts'
import type { Exhausted } from '../ledger/decide-claim.ts'
import type { DeadLetterCopy } from './consumer-queue.ts'
import type { Message } from './message.ts'

/** SQS takes ten attributes on a message; one is ours. */
const MAX_FOREIGN_ATTRIBUTES = 9

/**
 * The copy of a message for the dead-letter queue: body, group and attributes as they came, and our one attribute with the
 * handler, the next life and why. Every part is a function of message and row, so that resuming makes the same copy; the
 * next life is later than this one, so that a redrive from anywhere is a new round of this handler.
 */
export function deadLetterCopy(message: Message, exhausted: Exhausted): DeadLetterCopy {
  const { id, name, life, attempts, failure } = exhausted
  const note = encodeLifeNote({ life: life + 1, handlers: [name], attempts, reason: failure })
  const foreign = Object.entries(message.attributes).filter(([attribute]) => attribute !== LIFE_ATTRIBUTE)
  return {
    body: message.body,
    groupId: message.groupId,
    deduplicationId: sha256(`${id} ${name} ${life}`),
    attributes: {
      ...Object.fromEntries(foreign.slice(0, MAX_FOREIGN_ATTRIBUTES)),
      [LIFE_ATTRIBUTE]: { dataType: 'String', stringValue: note },
    },
  }
}
