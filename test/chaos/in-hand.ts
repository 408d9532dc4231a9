import { decodeBody } from '../../src/event/codec.ts'
import { eventId } from '../../src/event/identity.ts'
import { identityOf } from '../../src/outbox/row.ts'
import type { SqsRecord, StreamRecord } from '../../src/testing/index.ts'

/** Ids of the events in a batch of stream records or messages; none of anything else. */
export function idsInHand(event: unknown): string[] {
  const { Records = [] } = (event ?? {}) as { Records?: readonly (StreamRecord | SqsRecord)[] }
  return Records.flatMap((record) => ('body' in record ? idOfMessage(record) : idOfRow(record)))
}

function idOfMessage({ body }: SqsRecord): string[] {
  const decoded = decodeBody(body)
  return decoded.ok ? [decoded.event.id] : []
}

function idOfRow({ dynamodb }: StreamRecord): string[] {
  const { pk, sk } = dynamodb.Keys as { pk?: { S?: string }; sk?: { S?: string } }
  const identity = identityOf({ pk: pk?.S ?? '', sk: sk?.S ?? '' })
  return identity === undefined ? [] : [eventId(identity)]
}
