import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { StreamRecord } from '../../src/relay/lambda-event.ts'
import { createRelay } from '../../src/relay/relay.ts'
import { readRecord } from '../../src/relay/stream-record.ts'
import { streamRecord } from '../../src/testing/records.ts'
import { proves } from '../cases.ts'
import { json } from '../support/any-event.ts'
import { createFakeQueue } from '../support/fake-queue.ts'
import { keyOfRow, orderedRow, REGION, stateOf, unorderedRow } from '../support/outbox-rows.ts'
import { createRelayWorld, numbered } from '../support/relay-world.ts'
import { fail } from './hostile-things.ts'

const GOOD = unorderedRow('good')
const recordOf = (image: object, parts: object = {}): StreamRecord =>
  ({ ...streamRecord({ newImage: image as never, sequence: 7 }), ...parts }) as StreamRecord
const change = (parts: object): StreamRecord => {
  const record = recordOf(unorderedRow('odd'))
  return { ...record, dynamodb: { ...record.dynamodb, ...parts } }
}

/** Records that nothing can be made of, or that are none of the relay's. */
const IGNORED: ReadonlyArray<readonly [title: string, record: unknown]> = [
  ['null', null],
  ['nothing', undefined],
  ['text', 'INSERT'],
  ['a number', 5],
  ['an empty object', {}],
  ['no change', { eventName: 'INSERT' }],
  ['a change of null', { eventName: 'INSERT', dynamodb: null }],
  ['a change that is text', { eventName: 'INSERT', dynamodb: 'text' }],
  ['no name', recordOf(unorderedRow('odd'), { eventName: undefined })],
  ['an unknown name', recordOf(unorderedRow('odd'), { eventName: 'UPSERT' })],
  ['a name in small letters', recordOf(unorderedRow('odd'), { eventName: 'insert' })],
  ['a name that is an object', recordOf(unorderedRow('odd'), { eventName: {} })],
  ['no key at all', change({ Keys: {}, NewImage: {} })],
  ['keys of null', change({ Keys: null, NewImage: null })],
  ['keys that are text', change({ Keys: 'pk', NewImage: 'sk' })],
  ['keys whose attributes are null', change({ Keys: { pk: null, sk: null }, NewImage: { pk: null, sk: null } })],
  ['keys that are numbers', change({ Keys: { pk: { N: '1' }, sk: { N: '2' } }, NewImage: null })],
  ['keys of text that is none', change({ Keys: { pk: { S: 5 }, sk: { S: {} } }, NewImage: { pk: { S: [] } } })],
  [
    'an item of another table',
    recordOf({ id: { S: 'customer-1' }, pk: { S: 'a' }, sk: { S: 'b' }, shard: { N: '3' } }),
  ],
  ['an item of another table without a sort key', recordOf({ pk: { S: 'a' }, email: { S: 'x' } })],
  ['a removal by expiry', streamRecord({ eventName: 'REMOVE', oldImage: unorderedRow('odd') as never, ttl: true })],
]

/** Records of a row that stands in the table: it is sent once, whatever else they say. */
const TAKEN: ReadonlyArray<readonly [title: string, record: StreamRecord]> = [
  ['no image', change({ NewImage: undefined })],
  ['an image of null', change({ NewImage: null })],
  ['no keys', change({ Keys: undefined })],
  ['a strange time', change({ ApproximateCreationDateTime: 'noon' })],
  ['a time of null', change({ ApproximateCreationDateTime: null })],
  ['a time in milliseconds', change({ ApproximateCreationDateTime: 1_700_000_000_000 })],
  ['another stream’s ARN', recordOf(unorderedRow('odd'), { eventSourceARN: 'arn:aws:s3:::x', awsRegion: 'mars-1' })],
  ['an old image beside the new one', change({ OldImage: { shard: 'text' } })],
]

describe('a stream record', () => {
  it.each(IGNORED)('of %s is passed over, and holds up nothing', proves('poison-record'), async (_, record) => {
    const world = createRelayWorld()
    world.store.put(GOOD)
    expect(await world.relayRecords([record as StreamRecord, recordOf(GOOD)])).toEqual([])
    expect(world.queue.delivered).toHaveLength(1)
    expect(stateOf(world.store.get(keyOfRow(GOOD)))).toBe('relayed')
  })

  it.each(TAKEN)('with %s has its row sent once', proves('hint-before-row'), async (_, record) => {
    const world = createRelayWorld()
    world.store.put(unorderedRow('odd'))
    expect(await world.relayRecords([record, record, record])).toEqual([])
    expect(world.queue.accepted).toHaveLength(1)
    expect(stateOf(world.store.get(keyOfRow(unorderedRow('odd'))))).toBe('relayed')
  })

  it('of another outbox’s row is sent at most as a duplicate of it, and changes nothing here', async () => {
    const world = createRelayWorld()
    expect(await world.relayRecords([recordOf(unorderedRow('not-here')), recordOf(orderedRow('g', 1))])).toEqual([])
    expect(world.store.all()).toEqual([])
  })

  it('without a number that has to come again makes Lambda hand the batch over again', async () => {
    const world = createRelayWorld()
    world.store.fail('readGroup')
    const record = recordOf(orderedRow('g', 1))
    const unnumbered = { ...record, dynamodb: { ...record.dynamodb, SequenceNumber: undefined } }
    expect(await world.relayRecords([unnumbered, record])).toEqual(['', numbered(7)])
  })

  it('never makes its reader throw', () => {
    const attribute = fc.oneof(json, fc.record({ S: json }), fc.record({ N: json }), fc.constant(undefined))
    const image = fc.oneof(
      json,
      fc.dictionary(fc.constantFrom('pk', 'sk', 'shard', 'region', 'due', 'created'), attribute),
    )
    const given = fc.oneof(
      json,
      fc.record({
        eventName: fc.oneof(fc.constant('INSERT'), json),
        dynamodb: fc.oneof(
          json,
          fc.record({ Keys: image, NewImage: image, SequenceNumber: json, ApproximateCreationDateTime: json }),
        ),
      }),
    )
    const at = { regions: new Set([REGION]), now: 1_700_000_000_000 }
    fc.assert(
      fc.property(given, (record) => typeof readRecord(record as StreamRecord, at).kind === 'string'),
      { numRuns: 1000 },
    )
  })
})

describe('an invocation', () => {
  it.each([undefined, null, {}, { Records: {} }])('with %j is refused in words', async (event) => {
    const client = { send: fail, config: { region: async () => REGION } }
    const to = createFakeQueue('queue', { now: () => 0 })
    const relay = createRelay({ client: client as never, tableName: 'outbox', routes: [{ to }] })
    await expect(relay(event as never)).rejects.toMatchObject({ code: 'INVALID_USE' })
  })
})
