import { describe, expect, it } from 'vitest'
import { deadLetterCopy } from '../../src/consumer/dead-letter-copy.ts'
import { readMessage } from '../../src/consumer/message.ts'
import { sha256 } from '../../src/event/identity.ts'
import { decodeLifeNote } from '../../src/event/life.ts'
import type { Exhausted } from '../../src/ledger/decide-claim.ts'
import { sqsRecord } from '../../src/testing/records.ts'

const exhausted: Exhausted = {
  id: 'e1',
  name: 'shop/reserve',
  token: 't',
  status: 'failed',
  attempts: 8,
  life: 100,
  failure: 'no stock',
}
const MOST = 1_048_576

const copyOf = (body: string, messageAttributes: object = {}) =>
  deadLetterCopy(readMessage({ ...sqsRecord({ body, groupId: 'g' }), messageAttributes } as never), exhausted)

/** The bytes of our own attribute: name, type and value. */
const OURS = (() => {
  const { outbox } = copyOf('').attributes
  return 'outbox'.length + 'String'.length + (outbox?.stringValue?.length ?? 0)
})()

describe('a copy for the dead-letter queue', () => {
  it('is body and group as they came, under an id of event, handler and life', () => {
    const { attributes, ...copy } = copyOf('text')
    expect(copy).toEqual({ body: 'text', groupId: 'g', deduplicationId: sha256('e1 shop/reserve 100') })
    expect(attributes).toEqual({ outbox: { dataType: 'String', stringValue: expect.any(String) } })
    expect(decodeLifeNote(attributes['outbox']?.stringValue ?? '')).toEqual({
      life: 101,
      handlers: ['shop/reserve'],
      attempts: 8,
      reason: 'no stock',
    })
  })

  it('carries a note of its own in place of the one it came with, and nine other attributes', () => {
    const came = { outbox: { dataType: 'String', stringValue: '{"life":7,"handlers":["shop/other"]}' } }
    const others = Object.fromEntries(
      Array.from({ length: 9 }, (_, n) => [`a${n}`, { dataType: 'String', stringValue: 'x' }]),
    )
    const { attributes } = copyOf('text', { ...came, ...others })
    expect(Object.keys(attributes).toSorted()).toEqual([...Object.keys(others), 'outbox'])
    expect(decodeLifeNote(attributes['outbox']?.stringValue ?? '')?.life).toBe(101)
  })

  it('counts names, types, texts and bytes towards what a message may hold, to the last byte', () => {
    const bytes = { b: { dataType: 'Binary', binaryValue: Buffer.from('12345').toString('base64') } }
    const text = { t: { dataType: 'String', stringValue: 'é' } }
    const room = (extra: number) => 'x'.repeat(MOST - OURS - extra)
    const names = (body: string, attributes: object) => Object.keys(copyOf(body, attributes).attributes).toSorted()
    expect(names(room(1 + 6 + 5), bytes)).toEqual(['b', 'outbox'])
    expect(names(room(1 + 6 + 4), bytes)).toEqual(['outbox'])
    expect(names(room(1 + 6 + 2), text)).toEqual(['outbox', 't'])
    expect(names(room(1 + 6 + 1), text)).toEqual(['outbox'])
    expect(names(room(0), text)).toEqual(['outbox'])
    expect(names(`${room(0)}x`, text)).toEqual([])
    expect(names('é'.repeat(MOST / 2), text)).toEqual([])
  })
})
