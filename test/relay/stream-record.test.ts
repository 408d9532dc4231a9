import { describe, expect, it } from 'vitest'
import { readRecord } from '../../src/relay/stream-record.ts'
import { streamRecord } from '../../src/testing/records.ts'
import { orderedRow, REGION, relayedRow, unorderedRow } from '../support/outbox-rows.ts'

const NOW = 1_700_000_000_000
const at = { regions: new Set([REGION]), now: NOW }
const record = (newImage: object | undefined, options: object = {}) =>
  streamRecord({ newImage: newImage as never, sequence: 4, createdAt: NOW, ...options }) as never

describe('readRecord', () => {
  it('takes a fresh insert of an unordered row from its image', () => {
    const hint = readRecord(record(unorderedRow('k')), at)
    expect(hint).toMatchObject({
      kind: 'image',
      key: { pk: 'K#shop/k', sk: '-' },
      number: '000000000000000000004',
      reading: { kind: 'pending' },
    })
    expect(hint).not.toHaveProperty('unlisted')
  })

  it('takes an insert of an ordered row as a hint at its group, also when its image is malformed or newer', () => {
    expect(readRecord(record(orderedRow('g', 1)), at).kind).toBe('group')
    expect(readRecord(record(orderedRow('g', 1, { extra: { body: undefined } })), at).kind).toBe('group')
    expect(readRecord(record(orderedRow('g', 1, { extra: { v: { N: '9' } } })), at).kind).toBe('group')
  })

  it('takes what says nothing of its age for fresh', () => {
    const ageless = unorderedRow('k', { extra: { created: undefined } })
    expect(readRecord(record(ageless, { createdAt: undefined }), at).kind).toBe('image')
    const { dynamodb, ...rest } = record(ageless) as { dynamodb: object }
    const undated = { ...rest, dynamodb: { ...dynamodb, ApproximateCreationDateTime: undefined } }
    expect(readRecord(undated as never, at).kind).toBe('image')
    const unnumbered = { ...rest, dynamodb: { ...dynamodb, SequenceNumber: undefined } }
    expect(readRecord(unnumbered as never, at)).toMatchObject({ number: '' })
  })

  it('takes the key from the record’s keys where the image lacks it, and from the image where they do', () => {
    const { pk, sk, ...image } = unorderedRow('k')
    const { dynamodb, ...rest } = record(unorderedRow('k')) as { dynamodb: object }
    const bare = { ...rest, dynamodb: { ...dynamodb, NewImage: image, Keys: { pk, sk } } }
    expect(readRecord(bare as never, at)).toMatchObject({
      kind: 'image',
      key: { pk: 'K#shop/k', sk: '-' },
      reading: { kind: 'pending' },
    })
    const keyless = { ...rest, dynamodb: { ...dynamodb, Keys: undefined } }
    expect(readRecord(keyless as never, at)).toMatchObject({ kind: 'image', key: { pk: 'K#shop/k', sk: '-' } })
  })

  it('asks for the group of an ordered row that brings no image', () => {
    const { dynamodb, ...rest } = record(orderedRow('g', 1)) as { dynamodb: object }
    expect(readRecord({ ...rest, dynamodb: { ...dynamodb, NewImage: undefined } } as never, at).kind).toBe('group')
  })

  it('has a row read back whose record or row is older than the grace', () => {
    const old = NOW - 121_000
    expect(readRecord(record(unorderedRow('k', { created: old })), at).kind).toBe('read-back')
    expect(readRecord(record(unorderedRow('k', { created: NOW + 9e9 }), { createdAt: old }), at).kind).toBe('read-back')
    expect(readRecord(record(unorderedRow('k', { created: NOW - 119_000 })), at).kind).toBe('image')
  })

  it('has a row read whose record brings no image', () => {
    const keys = { pk: { S: 'K#shop/k' }, sk: { S: '-' } }
    expect(readRecord(record(undefined, { keys }), at).kind).toBe('read-back')
    const nulled = { eventName: 'INSERT', dynamodb: { Keys: keys, NewImage: null } }
    expect(readRecord(nulled as never, at).kind).toBe('read-back')
  })

  it.each([
    ['a MODIFY', record(unorderedRow('k'), { eventName: 'MODIFY' })],
    ['a REMOVE', record(undefined, { eventName: 'REMOVE', keys: { pk: { S: 'a' }, sk: { S: 'b' } } })],
    ['a row that is not pending', record(relayedRow(unorderedRow('k')))],
    ['a row of another Region', record(unorderedRow('k', { region: 'eu-west-1' }))],
    ['a row for pull workers', record(unorderedRow('k', { shard: 'w#shop#1' }))],
    ['nothing', {} as never],
    ['null', null as never],
    ['a change that is null', { eventName: 'INSERT', dynamodb: null } as never],
  ])('skips %s', (_, odd) => {
    expect(readRecord(odd, at).kind).toBe('skip')
  })

  it('says when it cannot read the key', () => {
    expect(readRecord(record({ pk: { N: '1' } }), at).kind).toBe('unreadable')
    expect(readRecord({ eventName: 'INSERT', dynamodb: {} }, at).kind).toBe('unreadable')
  })

  it('notes a row that no index shows', () => {
    expect(
      readRecord(record(unorderedRow('k', { shard: 'p#09', extra: { due: undefined, v: undefined } })), at),
    ).toMatchObject({ unlisted: { shard: 'p#09' } })
  })
})
