import { describe, expect, it } from 'vitest'
import { eventId, sha256 } from '../../src/event/identity.ts'
import { readRow } from '../../src/relay/row-image.ts'
import { deadRow, orderedRow, REGION, relayedRow, unorderedRow } from '../support/outbox-rows.ts'

const OWN = new Set([REGION])
const read = (image: Parameters<typeof readRow>[0]) => readRow(image, OWN)
const noteOf = (handlers: readonly string[], more: object = {}) => JSON.stringify({ life: 9, handlers, ...more })

describe('readRow', () => {
  it('reads an unordered row with all that is needed to send and mark it', () => {
    const image = unorderedRow('k', { redrives: 2, accepted: ['a', 'b'], body: '{}' })
    expect(read(image)).toEqual({
      kind: 'pending',
      key: { pk: 'K#shop/k', sk: '-' },
      row: {
        pk: 'K#shop/k',
        sk: '-',
        id: eventId({ source: 'shop', key: 'k' }),
        derivedId: false,
        source: 'shop',
        type: 'order.placed',
        body: '{}',
        shard: image['shard']?.S,
        redrives: 2,
        redrivesStored: true,
        accepted: new Set(['a', 'b']),
        created: 1_700_000_000_000,
      },
    })
  })

  it('reads an ordered row with its group', () => {
    expect(read(orderedRow('g/1', 5))).toMatchObject({
      kind: 'pending',
      row: { group: 'shop/g/1', id: eventId({ source: 'shop', group: 'g/1', sequence: 5 }) },
    })
  })

  it('tells relayed, dead, pull, newer and other Regions’ rows apart', () => {
    expect(read(relayedRow(unorderedRow('k'))).kind).toBe('settled')
    expect(read(deadRow(unorderedRow('k'))).kind).toBe('settled')
    expect(read(unorderedRow('k', { shard: 'w#shop#0' })).kind).toBe('pull')
    expect(read(unorderedRow('k', { extra: { v: { N: '2' } } })).kind).toBe('newer')
    expect(read(unorderedRow('k', { region: 'eu-west-1' })).kind).toBe('elsewhere')
    expect(readRow(unorderedRow('k', { region: 'eu-west-1' }), new Set([REGION, 'eu-west-1'])).kind).toBe('pending')
  })

  it.each([
    ['`body` is missing, empty or no text', { body: undefined }],
    ['`body` is missing, empty or no text', { body: { S: '' } }],
    ['`body` is missing, empty or no text', { body: { B: new Uint8Array() } }],
    ['`region` is missing or no text', { region: undefined }],
    ['`shard` is none of p#00 to p#63', { shard: { S: 'p#64' } }],
    ['`shard` is none of p#00 to p#63', { shard: { S: 'pending' } }],
    ['`v` is no whole number from 1', { v: { N: '0' } }],
    ['`v` is no whole number from 1', { v: { S: '1' } }],
    ['`v` is no whole number from 1', { v: { N: '1.5' } }],
    ['`type` is no text', { type: { N: '1' } }],
    ['`accepted` is no set of text', { accepted: { L: [] } }],
    ['`accepted` is no set of text', { accepted: { SS: ['a', 1 as never] } }],
    ['`accepted` is no set of text', { accepted: null as never }],
    ['`note` names too many handlers', { note: { S: noteOf(Array.from({ length: 101 }, (_, n) => `shop/${n}`)) } }],
    ['`note` names too many handlers', { note: { S: noteOf(['shop/ü']) } }],
    ['`redrives` is no whole number', { redrives: { N: '-1' } }],
    ['the key has none of the two forms', { pk: { S: 'X#shop/k' } }],
    ['the key has none of the two forms', { sk: { S: 'x' } }],
  ])('calls a row malformed, naming the attribute: %s', (reason, extra) => {
    expect(read(unorderedRow('k', { extra }))).toMatchObject({
      kind: 'malformed',
      reason: expect.stringContaining(reason),
    })
  })

  it('gives the round of a malformed row, where it has one that can be read', () => {
    const malformed = (redrives?: object) => read(unorderedRow('k', { extra: { body: undefined, redrives } }))
    expect(malformed({ N: '2' })).toMatchObject({ kind: 'malformed', redrives: 2 })
    expect(malformed()).toMatchObject({ kind: 'malformed', redrives: 0 })
    expect(malformed({ S: '2' })).not.toHaveProperty('redrives')
  })

  it('begins counting at none: a round of 0 is stored as one', () => {
    const reading = read(unorderedRow('k', { extra: { redrives: { N: '0' } } }))
    expect(reading).toMatchObject({ row: { redrives: 0, redrivesStored: true } })
    expect(read(unorderedRow('k'))).toMatchObject({ row: { redrives: 0, redrivesStored: false } })
  })

  it('cannot read what has no key of text', () => {
    expect(read({}).kind).toBe('unreadable')
    expect(read(unorderedRow('k', { extra: { sk: { N: '1' } } })).kind).toBe('unreadable')
  })

  describe('a foreign row', () => {
    const foreign = (extra: object) =>
      read({
        pk: { S: 'theirs' },
        sk: { S: '7' },
        shard: { S: 'p#01' },
        region: { S: REGION },
        body: { S: 'hello' },
        ...extra,
      })

    it('needs only keys, shard, Region and body; its id is the hash of its key', () => {
      expect(foreign({})).toMatchObject({
        kind: 'pending',
        row: { id: sha256('theirs|7'), derivedId: true, body: 'hello', redrives: 0 },
      })
    })

    it('with a note of its own is read as if it had none: only a life note goes with the event, life and handlers alone', () => {
      for (const note of ['call them back', 'ü'.repeat(200_000), '{"life":1}', '']) {
        const reading = foreign({ note: { S: note } })
        expect(reading.kind === 'pending' && 'note' in reading.row).toBe(false)
      }
      expect(foreign({ note: { N: '7' } })).toMatchObject({ kind: 'pending' })
      const replayed = foreign({ note: { S: noteOf(['stats/count'], { reason: '\u0007', of: 'theirs' }) } })
      expect(replayed).toMatchObject({ row: { note: '{"life":9,"handlers":["stats/count"]}' } })
    })

    it('keeps an id of its own, or its hash where a queue would refuse that', () => {
      expect(foreign({ id: { S: 'a:b#c' } })).toMatchObject({ row: { id: 'a:b#c', derivedId: false } })
      expect(foreign({ id: { S: 'with space' } })).toMatchObject({
        row: { id: sha256('with space'), derivedId: false },
      })
      expect(foreign({ id: { S: 'x'.repeat(101) } })).toMatchObject({ row: { id: sha256('x'.repeat(101)) } })
    })
  })
})
