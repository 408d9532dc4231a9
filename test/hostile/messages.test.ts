import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ConsumerQueue } from '../../src/consumer/consumer-queue.ts'
import { on } from '../../src/consumer/handler.ts'
import { readMessage } from '../../src/consumer/message.ts'
import type { SqsRecord } from '../../src/consumer/sqs-event.ts'
import { eventId } from '../../src/event/identity.ts'
import { LIFE_ATTRIBUTE } from '../../src/event/life.ts'
import { sqsRecord } from '../../src/testing/records.ts'
import { proves } from '../cases.ts'
import { json } from '../support/any-event.ts'
import { bodyOf, createConsumerKit, FUNCTION_MS, identityOf } from '../support/consumer-kit.ts'
import { SECRET, textOf } from './hostile-things.ts'

const GOOD = { n: 1 }
/** As much as SQS takes, nearly. */
const DEEP = 1_000_000
const wrap = (members: object) =>
  JSON.stringify({ version: '0', 'detail-type': 'order.placed', source: 's', ...members })
const cloudEvent = (members: object) =>
  JSON.stringify({ specversion: '1.0', id: 'x', source: '/x', type: 'order.placed', ...members })
const attribute = (value: unknown): Partial<SqsRecord> =>
  ({ messageAttributes: { [LIFE_ATTRIBUTE]: value } }) as Partial<SqsRecord>
const note = (value: unknown) => attribute({ dataType: 'String', stringValue: JSON.stringify(value) })

/** Bodies that no handler gets. */
const UNREADABLE: ReadonlyArray<readonly [title: string, body: string]> = [
  ['nothing', ''],
  ['a space', ' '],
  ['half a JSON text', bodyOf(GOOD).slice(0, -1)],
  ['two JSON texts', bodyOf(GOOD).repeat(2)],
  ['an array of events', `[${bodyOf(GOOD)}]`],
  ['a JSON text in a JSON text', JSON.stringify(bodyOf(GOOD))],
  ['a number beyond all numbers', '1e999'],
  ['null', 'null'],
  ['XML', '<event/>'],
  ['lone surrogates', '"\ud800'],
  ['a byte order mark before an event', `\ufeff${bodyOf(GOOD)}`],
  ['a member named __proto__', '{"__proto__":{"specversion":"1.0","id":"i","source":"s","type":"order.placed"}}'],
  ['an event of CloudEvents 0.3', cloudEvent({ specversion: '0.3' })],
  ['an event without an id', cloudEvent({ id: '' })],
  ['an event whose source is an object', cloudEvent({ source: {} })],
  ['an event whose type is an array', cloudEvent({ type: ['order.placed'] })],
  ['a megabyte of open brackets', '['.repeat(DEEP)],
  ['a megabyte of nested arrays', '['.repeat(DEEP / 2) + ']'.repeat(DEEP / 2)],
  [
    'a megabyte of nested objects in an envelope',
    wrap({ detail: 0 }).replace('0}', `${'{"a":'.repeat(DEEP / 8)}1${'}'.repeat(DEEP / 8)}}`),
  ],
  ['an envelope of nothing', wrap({ detail: null })],
  ['an envelope of text', wrap({ detail: bodyOf(GOOD) })],
  ['an envelope of an array', wrap({ detail: [JSON.parse(bodyOf(GOOD))] })],
  ['an envelope of an envelope', wrap({ detail: JSON.parse(wrap({ detail: JSON.parse(bodyOf(GOOD)) })) })],
  ['an envelope whose type is a number', wrap({ 'detail-type': 1, detail: JSON.parse(bodyOf(GOOD)) })],
]

/** Parts that are missing or of another type, of a record with a body that is right. */
const ODD_PARTS: ReadonlyArray<readonly [title: string, parts: object]> = [
  ['no attributes', { messageAttributes: undefined, attributes: undefined }],
  ['attributes that are null', { messageAttributes: null, attributes: null }],
  ['attributes that are text', { messageAttributes: 'text', attributes: 'text' }],
  ['counts and groups of another type', { attributes: { ApproximateReceiveCount: {}, MessageGroupId: 5 } }],
  ['a receive count of -1', { attributes: { ApproximateReceiveCount: '-1' } }],
  ['no queue', { eventSourceARN: undefined }],
  ['no receipt handle', { receiptHandle: null }],
  ['an attribute of ours that is null', attribute(null)],
  ['an attribute of ours that is a number', attribute(5)],
  ['an attribute of ours with bytes', attribute({ dataType: 'Binary', binaryValue: 'AAA=' })],
  ['an attribute of ours with a number for text', attribute({ dataType: 'String', stringValue: 5 })],
  ['an attribute of ours that is no JSON', attribute({ dataType: 'String', stringValue: '{' })],
  ['a megabyte of brackets in it', attribute({ dataType: 'String', stringValue: '['.repeat(DEEP) })],
  ['a note of null', note(null)],
  ['a note of nothing', note({})],
  ['a note that is an array', note([1, ['shop/note']])],
  ['a note without handlers', note({ life: 1, handlers: [] })],
  ['a note with one text for handlers', note({ life: 1, handlers: 'shop/note' })],
  ['a note with handlers that are objects', note({ life: 1, handlers: [{}] })],
  ['a note of a life that is text', note({ life: '1', handlers: ['shop/note'] })],
  ['a note of a life before all', note({ life: -1, handlers: ['shop/note'] })],
  ['a note of a life beyond numbers', note({ life: 2 ** 53, handlers: ['shop/note'] })],
  ['a note of the last number', note({ life: Number.MAX_SAFE_INTEGER, handlers: ['shop/note'] })],
  ['a note with odd attempts and reasons', note({ life: 1, handlers: ['shop/note'], attempts: {}, reason: 5 })],
]

/** Notes that name what cannot be: dead-lettered, once, whatever they name. */
const ODD_NAMES: ReadonlyArray<readonly [title: string, handlers: readonly string[]]> = [
  ['no name', ['']],
  ['a space', ['shop/no te']],
  ['an emoji', ['shop/😀']],
  ['130 characters', [`shop/${'x'.repeat(125)}`]],
  ['a control character', ['shop/\u0000']],
  ['101 handlers', Array.from({ length: 101 }, (_, n) => `shop/h${n}`)],
  ['a quarter of a million handlers', Array.from({ length: 250_000 }, (_, n) => `shop/h${n}`)],
]

function kit() {
  const handled: unknown[] = []
  const note = on('order.placed', 'note', (event) => void handled.push(event.data))
  const made = createConsumerKit({ handlers: [note] })
  // Records made by hand have handles that the queue never gave out.
  const queue: ConsumerQueue = { ...made.options.queue, setVisibility: async (_, all) => all.map(() => 'changed') }
  const consumer = made.consumerWith({ queue })
  /** Hands over records as they are, beside a good one of another group. */
  const hand = async (...odd: readonly unknown[]) => {
    const good = sqsRecord({ body: bodyOf(GOOD), groupId: 'good', messageId: 'good' })
    const context = { getRemainingTimeInMillis: () => FUNCTION_MS }
    const { batchItemFailures } = await consumer({ Records: [...odd, good] as SqsRecord[] }, context)
    return batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)
  }
  return { ...made, handled, hand }
}

const recordOf = (parts: object, body = bodyOf({ n: 2 })) => ({
  ...sqsRecord({ body, groupId: 'odd', messageId: 'odd' }),
  ...parts,
})

describe('a message', () => {
  it.each(UNREADABLE)('of %s is dead-lettered alone, as it came', proves('poison-record'), async (_, body) => {
    const { hand, handled, deadLetters, lines } = kit()
    // A queue refuses a copy that it could never have held, and so the message stays: it is still alone.
    const kept = await hand(recordOf({}, body))
    expect(handled).toEqual([GOOD])
    if (body === '' || body.length > 1_048_576 || !body.isWellFormed()) return expect(kept).toEqual(['odd'])
    expect(kept).toEqual([])
    expect(deadLetters()).toMatchObject([{ body, note: { handlers: ['shop/-'] } }])
    expect(textOf(lines)).not.toContain('order.placed')
  })

  it.each(ODD_PARTS)('with %s is handled all the same', async (_, parts) => {
    const { hand, handled, deadLetters } = kit()
    expect(await hand(recordOf(parts))).toEqual([])
    expect(handled).toHaveLength(2)
    expect(deadLetters()).toEqual([])
  })

  it.each(ODD_NAMES)('that names %s goes to the dead-letter queue once, and no handler runs', async (_, handlers) => {
    const { hand, handled, deadLetters, store } = kit()
    expect(await hand(recordOf(note({ life: 1, handlers })))).toEqual([])
    expect(handled).toEqual([GOOD])
    expect(deadLetters()).toMatchObject([{ note: { handlers: ['shop/-'] } }])
    expect(store.rows.size).toBe(2)
  })

  it('with attributes that no queue would take goes to the dead-letter queue with those that it would', async () => {
    const { hand, sqs } = kit()
    const odd = { a: null, b: 5, c: {}, d: { dataType: 'String' }, e: { dataType: 'String', stringValue: null } }
    const fine = { dataType: 'String', stringValue: 'x', binaryValue: null, stringListValues: [] }
    expect(await hand(recordOf({ messageAttributes: { ...odd, fine } }, 'nonsense'))).toEqual([])
    const [letter] = sqs.deadLetters.receive(10)
    expect(Object.keys(letter?.attributes ?? {})).toEqual(['fine', LIFE_ATTRIBUTE])
  })

  it.each([
    ['null', null],
    ['nothing', undefined],
    ['a number', 5],
    ['no id', recordOf({ messageId: undefined })],
    ['an empty id', recordOf({ messageId: '' })],
    ['an id that is a number', recordOf({ messageId: 5 })],
  ])('of %s is not run, and makes Lambda hand the batch over again', async (_, record) => {
    const { hand, handled, store } = kit()
    expect(await hand(record)).toEqual([''])
    expect(handled).toEqual([GOOD])
    expect(store.rows.size).toBe(1)
  })

  it('that comes ten times in one batch is handled once', async () => {
    const { hand, handled } = kit()
    const copies = Array.from({ length: 10 }, (_, n) => ({ ...recordOf({}), messageId: `odd-${n}` }))
    expect(await hand(...copies)).toEqual([])
    expect(handled).toHaveLength(2)
    expect(handled).toEqual(expect.arrayContaining([GOOD, { n: 2 }]))
  })

  it('with an id of strange characters and a strange type keeps its neighbours out of it', async () => {
    const { hand, handled, deadLetters } = kit()
    const id = '/ :#\u0000😀\u2028__proto__'.repeat(20)
    expect(await hand(recordOf({ messageId: 'm-1' }, cloudEvent({ id, subject: id, data: id })))).toEqual([])
    expect(await hand(recordOf({ messageId: 'm-2' }, cloudEvent({ id, type: 'constructor' })))).toEqual([])
    expect(handled).toEqual([id, GOOD])
    expect(deadLetters()).toMatchObject([{ note: { handlers: ['shop/-'] } }])
  })

  it('with data of 100,000 levels reaches a handler that does not look at them', async () => {
    const { hand, handled } = kit()
    const data = `${'['.repeat(1e5)}${']'.repeat(1e5)}`
    expect(await hand(recordOf({}, cloudEvent({ data: 0 }).replace(/0}$/, `${data}}`)))).toEqual([])
    expect(handled).toHaveLength(2)
  })

  it('imitating an event of ours is not taken for it', async () => {
    const real = JSON.parse(bodyOf({ n: 2 })) as Record<string, unknown>
    const ours = eventId(identityOf({ n: 2 }))
    const changes = [
      { source: 'other' },
      { subject: 'k9' },
      { life: 5 },
      { life: '1e3' },
      { life: '' },
      { source: '%74est' },
    ]
    for (const change of changes) {
      const { id, content } = readMessage(recordOf({}, JSON.stringify({ ...real, ...change })) as SqsRecord)
      expect({ id, ok: content.ok }).toEqual({ id: 'odd', ok: true })
    }
    expect(readMessage(recordOf({}) as SqsRecord).id).toBe(ours)
  })
})

describe('readMessage', () => {
  it('ends on 10 MB of the deepest JSON there is', { timeout: 60_000 }, () => {
    const deep = `${'['.repeat(5_242_880)}${']'.repeat(5_242_880)}`
    expect(readMessage(recordOf({}, deep) as SqsRecord).content.ok).toBe(false)
  })

  it('never throws, and every part of what it reads can be used', () => {
    const nasty = fc.oneof(json, fc.constant(undefined), fc.string({ unit: 'binary' }))
    const attributes = fc.dictionary(fc.constantFrom('outbox', 'a', '__proto__'), fc.oneof(nasty, fc.record({ dataType: nasty, stringValue: nasty, binaryValue: nasty }))) // biome-ignore format: one arbitrary
    const record = fc.record(
      {
        messageId: nasty,
        receiptHandle: nasty,
        body: fc.oneof(
          nasty,
          json.map((value) => JSON.stringify(value)),
        ),
        attributes: fc.oneof(nasty, fc.record({ ApproximateReceiveCount: nasty, MessageGroupId: nasty })),
        messageAttributes: fc.oneof(nasty, attributes),
        eventSourceARN: nasty,
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(nasty, record), (given) => {
        const message = readMessage(given as unknown as SqsRecord)
        const texts = [message.id, message.messageId, message.body, message.group, message.groupId, message.queueArn]
        expect(texts.every((text) => typeof text === 'string')).toBe(true)
        expect(message.receiveCount).toBeGreaterThanOrEqual(1)
        expect(Number.isSafeInteger(message.life)).toBe(true)
        for (const { dataType, stringValue, binaryValue } of Object.values(message.attributes)) {
          expect([typeof dataType, typeof (stringValue ?? binaryValue)]).toEqual(['string', 'string'])
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('an invocation', () => {
  it.each([undefined, null, 5, {}, { Records: null }, { Records: SECRET }])(
    'with %j is refused in words',
    async (event) => {
      const { consumer } = kit()
      const context = { getRemainingTimeInMillis: () => FUNCTION_MS }
      const refused = consumer(event as never, context)
      await expect(refused).rejects.toMatchObject({ code: 'INVALID_USE', message: expect.stringContaining('SQS') })
      await expect(refused).rejects.not.toThrow(SECRET)
    },
  )
})
