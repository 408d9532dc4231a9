import { describe, expect, it } from 'vitest'
import { readMessage } from '../../src/consumer/message.ts'
import { eventId } from '../../src/event/identity.ts'
import { encodeLifeNote } from '../../src/event/life.ts'
import { sqsRecord } from '../../src/testing/records.ts'
import { proves } from '../cases.ts'
import { bodyOf, identityOf, START } from '../support/consumer-kit.ts'

const EVENT = { group: 'order-1', n: 3 }
const body = bodyOf(EVENT)
const id = eventId(identityOf(EVENT))
const wrap = (detail: unknown) =>
  JSON.stringify({
    version: '0',
    id: 'e-1',
    'detail-type': 'order.placed',
    source: 'test',
    account: '1',
    time: 't',
    region: 'r',
    resources: [],
    detail,
  })

describe('reading a message', () => {
  it('takes id and life from the body, and the group from the queue', () => {
    const message = readMessage(sqsRecord({ body, groupId: 'test/order-1', receiveCount: 4 }))
    expect(message).toMatchObject({
      id,
      life: START - 1000,
      group: 'test/order-1',
      groupId: 'test/order-1',
      receiveCount: 4,
    })
    expect(message.content).toMatchObject({ ok: true, event: { data: { n: 3 }, sequence: 3, group: 'order-1' } })
  })

  it(
    'unwraps what an EventBridge rule delivers, and keeps the body for a dead letter',
    proves('event-bridge-wrapped'),
    () => {
      const wrapped = wrap(JSON.parse(body))
      const message = readMessage(sqsRecord({ body: wrapped }))
      expect(message).toMatchObject({
        id,
        group: id,
        body: wrapped,
        content: { ok: true, event: { id, type: 'order.placed' } },
      })
    },
  )

  it('leaves an event alone whose data looks like an envelope', () => {
    const odd = bodyOf({ ...EVENT, data: { 'detail-type': 'x', detail: {} } })
    expect(readMessage(sqsRecord({ body: odd })).content).toMatchObject({ event: { data: { 'detail-type': 'x' } } })
  })

  it('gives each message of a standard queue a group of its own, and copies of one event the same', () => {
    const one = readMessage(sqsRecord({ body, messageId: 'm1' }))
    const two = readMessage(sqsRecord({ body, messageId: 'm2' }))
    const other = readMessage(sqsRecord({ body: bodyOf({ n: 9 }), messageId: 'm3' }))
    expect(one.group).toBe(two.group)
    expect(other.group).not.toBe(one.group)
    // A group id on a standard queue names a tenant, not an order.
    const fair = sqsRecord({ body, groupId: 'tenant', queueName: 'queue' })
    expect(readMessage(fair).group).toBe(id)
  })

  it('takes the later life and the named handlers from the attribute', () => {
    const note = { life: START, handlers: ['shop/reserve'], attempts: 8, reason: 'no \u{1f600} \uffff' }
    const text = encodeLifeNote(note)
    expect(text).toMatch(/^[ -~]+$/)
    expect(readMessage(sqsRecord({ body, attributes: { outbox: text } }))).toMatchObject({ life: START, note })
    const earlier = encodeLifeNote({ life: 1, handlers: ['shop/reserve'] })
    expect(readMessage(sqsRecord({ body, attributes: { outbox: earlier } })).life).toBe(START - 1000)
    expect(readMessage(sqsRecord({ body, attributes: { outbox: 'nonsense' } })).note).toBeUndefined()
  })

  it('takes a note that names an impossible handler for malformed, so that no row has an impossible key', () => {
    for (const handler of ['', 'a b/c', 'x'.repeat(130)]) {
      const outbox = JSON.stringify({ life: 1, handlers: [handler] })
      const message = readMessage(sqsRecord({ body, messageId: 'm1', attributes: { outbox } }))
      expect(message).toMatchObject({ id: 'm1', content: { ok: false, reason: expect.stringContaining('attribute') } })
    }
  })

  it('keys an event of another writer by its message id', () => {
    const foreign = JSON.stringify({ specversion: '1.0', id: '7', source: '/other', type: 'order.placed', data: 1 })
    expect(readMessage(sqsRecord({ body: foreign, messageId: 'm1' }))).toMatchObject({
      id: 'm1',
      life: 0,
      content: { ok: true },
    })
  })

  it('keeps of the attributes what a copy can carry, text or bytes', () => {
    const attributes = {
      text: { dataType: 'String', stringValue: '' },
      bytes: { dataType: 'Binary', binaryValue: 'AQ==' },
      both: { dataType: 'Binary', stringValue: 'x', binaryValue: 'AQ==' },
      emptyBytes: { dataType: 'String', stringValue: 'x', binaryValue: '' },
      neither: { dataType: 'String' },
      untyped: { stringValue: 'x' },
      number: { dataType: 'Number', stringValue: 7 },
      nothing: null,
    }
    const record = { ...sqsRecord({ body }), messageAttributes: attributes }
    expect(readMessage(record as never).attributes).toEqual({
      text: { dataType: 'String', stringValue: '' },
      bytes: { dataType: 'Binary', binaryValue: 'AQ==' },
      both: { dataType: 'Binary', binaryValue: 'AQ==' },
      emptyBytes: { dataType: 'String', stringValue: 'x' },
    })
  })

  it('reads a record that lacks everything, as nobody’s and received once', () => {
    for (const odd of [undefined, null, {}, { attributes: null }, { messageId: 7, body: {}, attributes: {} }]) {
      expect(readMessage(odd as never)).toEqual({
        id: '',
        messageId: '',
        receiptHandle: '',
        body: '',
        attributes: {},
        queueArn: '',
        group: '',
        groupId: '',
        receiveCount: 1,
        life: 0,
        content: { ok: false, reason: 'the body is not JSON' },
      })
    }
  })

  it('has no note where there is none', () => {
    expect(readMessage(sqsRecord({ body }))).not.toHaveProperty('note')
  })

  it('takes 100 named handlers, of which each can be, and no more', () => {
    const named = (handlers: string[]) => {
      const outbox = JSON.stringify({ life: START, handlers })
      return readMessage(sqsRecord({ body, attributes: { outbox } })).content.ok
    }
    const most = Array.from({ length: 100 }, (_, n) => `c/h${n}`)
    expect(named(most)).toBe(true)
    expect(named([...most, 'c/one-more'])).toBe(false)
    expect(named(['c/h', 'a b'])).toBe(false)
    expect([named(['a/b']), named(['ab']), named(['x'.repeat(129)]), named(['x'.repeat(130)])]).toEqual([
      true,
      false,
      true,
      false,
    ])
  })

  it('unwraps an envelope only where it has a type and a detail', () => {
    const whole = JSON.parse(wrap(JSON.parse(body)))
    const isOurs = (change: object) => {
      const { content } = readMessage(sqsRecord({ body: JSON.stringify({ ...whole, ...change }) }))
      return content.ok
    }
    expect(isOurs({})).toBe(true)
    expect(isOurs({ 'detail-type': 7 })).toBe(false)
    expect(isOurs({ detail: body })).toBe(false)
    expect(isOurs({ specversion: '1.0' })).toBe(false)
  })

  it('keeps what it cannot read, with a reason and under its message id', () => {
    for (const text of ['', 'text', 'null', '[1]', '{}', wrap(null), wrap('text'), '{"detail-type"']) {
      expect(readMessage(sqsRecord({ body: text, messageId: 'm1' }))).toMatchObject({
        id: 'm1',
        body: text,
        content: { ok: false, reason: expect.any(String) },
      })
    }
  })
})
