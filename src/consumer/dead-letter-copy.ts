import { sha256 } from '../event/identity.ts'
import { encodeLifeNote, LIFE_ATTRIBUTE } from '../event/life.ts'
import type { Exhausted } from '../ledger/decide-claim.ts'
import type { DeadLetterCopy } from './consumer-queue.ts'
import type { Message } from './message.ts'
import type { SqsAttribute } from './sqs-event.ts'

/** SQS takes ten attributes on a message; one is ours. */
const MAX_FOREIGN_ATTRIBUTES = 9
/** What SQS takes in one message: body, and name, type and value of each attribute. */
const MAX_BYTES = 1_048_576

type Attributes = Readonly<Record<string, SqsAttribute>>

/**
 * The copy of a message for the dead-letter queue: body, group and attributes as they came, and our one attribute with the
 * handler, the next life and why. Every part is a function of message and row, so that resuming makes the same copy; the
 * next life is later than this one, so that a redrive from anywhere is a new round of this handler.
 */
export function deadLetterCopy(message: Message, exhausted: Exhausted): DeadLetterCopy {
  const { id, name, life, attempts, failure } = exhausted
  const stringValue = encodeLifeNote({ life: life + 1, handlers: [name], attempts, reason: failure })
  return {
    body: message.body,
    groupId: message.groupId,
    deduplicationId: sha256(`${id} ${name} ${life}`),
    attributes: fittingAttributes(message, { [LIFE_ATTRIBUTE]: { dataType: 'String', stringValue } }),
  }
}

/**
 * A message as large as SQS takes has no room for ours: then less goes with it, for a copy that is refused would hold up
 * its group for days. Only a stranger's is so large, and that one is known by its message id: a redrive is a new event to
 * each handler, with or without our attribute.
 */
function fittingAttributes({ body, attributes }: Message, ours: Attributes): Attributes {
  const foreign = Object.entries(attributes).filter(([attribute]) => attribute !== LIFE_ATTRIBUTE)
  const all = { ...Object.fromEntries(foreign.slice(0, MAX_FOREIGN_ATTRIBUTES)), ...ours }
  const room = MAX_BYTES - Buffer.byteLength(body)
  return [all, ours].find((some) => attributeBytes(some) <= room) ?? {}
}

function attributeBytes(attributes: Attributes): number {
  return Object.entries(attributes).reduce((sum, [name, { dataType, stringValue = '', binaryValue = '' }]) => {
    return sum + Buffer.byteLength(name + dataType + stringValue) + Buffer.byteLength(binaryValue, 'base64')
  }, 0)
}
