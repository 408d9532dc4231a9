import fc from 'fast-check'
import { expect, it } from 'vitest'
import { deadLetterCopy } from '../../src/consumer/dead-letter-copy.ts'
import { readMessage } from '../../src/consumer/message.ts'
import type { SqsAttribute } from '../../src/consumer/sqs-event.ts'
import { LIFE_ATTRIBUTE } from '../../src/event/life.ts'
import { runs } from './runs.ts'

/** What SQS takes in one message: body, and name, type and value of each attribute. */
const MAX_BYTES = 1_048_576
const MAX_ATTRIBUTES = 10

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 })
const attributes = fc.dictionary(fc.stringMatching(/^[a-z]{1,10}$/), text, { maxKeys: MAX_ATTRIBUTES })
/** Mostly somewhere below what fits: what is left over decides what can go along. */
const room = fc.oneof(fc.constantFrom(0, 1), fc.nat({ max: 2000 }), fc.nat({ max: MAX_BYTES }))

it('every message that SQS took can be copied to a dead-letter queue, with as much of it as there is room for', () => {
  const property = fc.property(attributes, room, text, (given, left, failure) => {
    const messageAttributes = Object.fromEntries(
      Object.entries(given).map(([name, stringValue]) => [name, { dataType: 'String', stringValue }]),
    )
    const body = 'x'.repeat(Math.max(1, MAX_BYTES - bytesOf(messageAttributes) - left))
    const message = readMessage({
      messageId: 'm',
      receiptHandle: 'h',
      body,
      attributes: { ApproximateReceiveCount: '1', MessageGroupId: 'g' },
      messageAttributes,
      eventSourceARN: 'arn:aws:sqs:eu-west-1:1:q.fifo',
    })
    const row = { id: 'm', name: 'c/h', token: 't', status: 'failed', attempts: 8, life: 7, failure } as const
    const copy = deadLetterCopy(message, row)
    const names = Object.keys(copy.attributes)
    expect([copy.body === body, copy.groupId]).toEqual([true, 'g'])
    expect(Buffer.byteLength(copy.body) + bytesOf(copy.attributes)).toBeLessThanOrEqual(MAX_BYTES)
    expect(names.length).toBeLessThanOrEqual(MAX_ATTRIBUTES)
    // Ours is the last to go, and nothing of a stranger's goes along without it.
    if (left >= 2000) expect(names).toContain(LIFE_ATTRIBUTE)
    if (!names.includes(LIFE_ATTRIBUTE)) expect(names).toEqual([])
  })
  fc.assert(property, runs(100))
})

function bytesOf(of: Readonly<Record<string, SqsAttribute>>): number {
  return Object.entries(of).reduce((sum, [name, { dataType, stringValue = '' }]) => {
    return sum + Buffer.byteLength(name + dataType + stringValue)
  }, 0)
}
