import { eventId } from '../../src/event/identity.ts'
import { identityOf } from '../../src/outbox/row.ts'
import type { StreamEvent } from '../../src/testing/index.ts'

/** Ids of the events that a batch of stream records hints at; none of anything else. */
export function idsInHand(event: unknown): string[] {
  const { Records = [] } = (event ?? {}) as Partial<StreamEvent>
  return Records.flatMap(({ dynamodb }) => {
    const { pk, sk } = (dynamodb?.Keys ?? {}) as { pk?: { S?: string }; sk?: { S?: string } }
    const identity = identityOf({ pk: pk?.S ?? '', sk: sk?.S ?? '' })
    return identity === undefined ? [] : [eventId(identity)]
  })
}
