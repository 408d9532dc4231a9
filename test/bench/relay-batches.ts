import type { Identity } from '../../src/event/identity.ts'
import { marshalItem } from '../../src/outbox/attribute-form.ts'
import { buildRow } from '../../src/outbox/build-row.ts'
import type { StreamImage, StreamRecord } from '../../src/testing/lambda-events.ts'
import { streamRecord } from '../../src/testing/records.ts'
import { REGION } from './clients.ts'

/** Bytes of a row as JSON, about. */
const ROW_BYTES = 1000

/** The row of an event of 1 KB, as `createOutbox` writes it, in a stream record's form. */
export function rowImage(identity: Identity): StreamImage {
  const image = (note: string): StreamImage => {
    const data = { customerId: 'customer-42', total: 42.5, note }
    const event = { ...identity, type: 'order.placed', data, headers: {} }
    const draft = { event, dataText: JSON.stringify(data) } as Parameters<typeof buildRow>[0]
    const stamp = { created: Date.now(), instance: '0123456789abcdef', region: REGION }
    return marshalItem({ ...buildRow(draft, identity, stamp) }) as StreamImage
  }
  const missing = ROW_BYTES - JSON.stringify(image('')).length
  return image('x'.repeat(Math.max(0, missing)))
}

/**
 * A batch as Lambda hands it over, of rows written just now: parsed anew, so that no side finds what another has warmed
 * up.
 */
export function batchOf(images: readonly StreamImage[]): StreamRecord[] {
  const createdAt = Date.now()
  const fresh = { created: { N: String(createdAt) }, due: { N: String(createdAt + 120_000) } }
  const records = images.map((image, n) =>
    streamRecord({ newImage: { ...image, ...fresh }, sequence: n + 1, createdAt }),
  )
  return JSON.parse(JSON.stringify(records)) as StreamRecord[]
}
