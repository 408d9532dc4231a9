import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { eventId, sha256 } from '../../src/event/identity.ts'
import { pendingShard } from '../../src/outbox/row.ts'
import { outgoingMessage } from '../../src/relay/outgoing-message.ts'
import { type Attribute, type RowImage, readRow } from '../../src/relay/row-image.ts'
import { proves } from '../cases.ts'
import { json } from '../support/any-event.ts'
import {
  deadRow,
  keyOfRow,
  orderedRow,
  REGION,
  relayedRow,
  row,
  stateOf,
  unorderedRow,
} from '../support/outbox-rows.ts'
import { createRelayWorld, type RelayWorld } from '../support/relay-world.ts'
import { textOf } from './hostile-things.ts'

const HOUR = 3_600_000
const GOOD = unorderedRow('good')
/** As another program might write it, into this table. */
const foreign = (pk: string, sk: string, extra: Record<string, Attribute | undefined> = {}): RowImage =>
  row({ pk, sk }, { extra: { v: undefined, instance: undefined, created: undefined, due: undefined, ...extra } })
const note = (handlers: readonly string[]) => JSON.stringify({ life: 9, handlers })
const odd = (extra: Record<string, unknown>) => unorderedRow('odd', { extra: extra as Record<string, Attribute> })

/** Rows that can never be sent: dead-lettered alone, with a reason that names the attribute. */
const MALFORMED: ReadonlyArray<readonly [title: string, image: RowImage, reason: string]> = [
  ['no body', odd({ body: undefined }), '`body`'],
  ['an empty body', odd({ body: { S: '' } }), '`body`'],
  ['a body of bytes', odd({ body: { B: new Uint8Array(3) } }), '`body`'],
  ['a body of a map', odd({ body: { M: { a: { S: 'x' } } } }), '`body`'],
  ['a body of a number', odd({ body: { N: '5' } }), '`body`'],
  ['a body that is null', odd({ body: { NULL: true } }), '`body`'],
  ['no region', odd({ region: undefined }), '`region`'],
  ['a region that is a number', odd({ region: { N: '1' } }), '`region`'],
  ['a version that is text', odd({ v: { S: '1' } }), '`v`'],
  ['version 0', odd({ v: { N: '0' } }), '`v`'],
  ['version -1', odd({ v: { N: '-1' } }), '`v`'],
  ['version 1.5', odd({ v: { N: '1.5' } }), '`v`'],
  ['a type of bytes', odd({ type: { B: new Uint8Array(3) } }), '`type`'],
  ['a list of those who took it', odd({ accepted: { L: [{ S: 'queue' }] } }), '`accepted`'],
  ['numbers for those who took it', odd({ accepted: { NS: ['1'] } }), '`accepted`'],
  ['a note of 101 handlers', odd({ note: { S: note(Array.from({ length: 101 }, (_, n) => `shop/${n}`)) } }), '`note`'],
  ['a note of a name that no ledger has', odd({ note: { S: note(['\n']) } }), '`note`'],
  ['redrives that are text', odd({ redrives: { S: '1' } }), '`redrives`'],
  ['-1 redrives', odd({ redrives: { N: '-1' } }), '`redrives`'],
  ['more redrives than there are numbers', odd({ redrives: { N: '1e300' } }), '`redrives`'],
  ['a shard of no number', unorderedRow('odd', { shard: 'p#64' }), '`shard`'],
  ['a shard with a suffix', unorderedRow('odd', { shard: 'p#00 ' }), '`shard`'],
  ['a key of no form', row({ pk: 'X#shop/odd', sk: '-' }, {}), 'key'],
  ['a key without a source', row({ pk: 'K#/odd', sk: '-' }, {}), 'key'],
  ['a key without a name', row({ pk: 'K#shop/', sk: '-' }, {}), 'key'],
  ['another sort key', row({ pk: 'K#shop/odd', sk: '--' }, {}), 'key'],
  ['a key that is the id of an ordered row', row({ pk: 'K#shop/order-1 5', sk: '-' }, {}), 'key'],
  ['a source with a space', row({ pk: 'K#my shop/odd', sk: '-' }, {}), 'key'],
  ['a key of 1,000 characters', row({ pk: `K#shop/${'x'.repeat(1000)}`, sk: '-' }, {}), 'key'],
  ['a key of emoji', row({ pk: 'K#shop/😀', sk: '-' }, {}), 'key'],
]

/** Rows without a version: sent as they are. */
const FOREIGN: ReadonlyArray<readonly [title: string, image: RowImage, id: string]> = [
  ['any key', foreign('customer 7', 'order|9'), sha256('customer 7|order|9')],
  ['a separator in its key', foreign('a|b', 'c'), sha256(`${sha256('a|b')}|c`)],
  ['an id of its own', foreign('a', 'b', { id: { S: 'my-id' } }), 'my-id'],
  ['an empty id', foreign('a', 'b', { id: { S: '' } }), sha256('a|b')],
  ['an id of another type', foreign('a', 'b', { id: { N: '7' } }), sha256('a|b')],
  ['an id that no queue takes', foreign('a', 'b', { id: { S: 'ü'.repeat(200) } }), sha256('ü'.repeat(200))],
  ['an id with a space', foreign('a', 'b', { id: { S: 'my id' } }), sha256('my id')],
  ['a key like ours', foreign('K#shop/k', '-'), sha256('K#shop/k|-')],
  ['2,000 bytes of a key', foreign('😀'.repeat(500), 'x'), sha256(`${'😀'.repeat(500)}|x`)],
  ['attributes of all kinds', foreign('a', 'b', { x: { L: [] }, y: { BS: [] }, __proto__x: { M: {} } }), sha256('a|b')],
  ['a note that no queue takes', foreign('a', 'b', { note: { S: '\u0000ü'.repeat(150_000) } }), sha256('a|b')],
  ['an empty type', foreign('a', 'b', { type: { S: '' } }), sha256('a|b')],
  ['a creation time that is none', foreign('a', 'b', { created: { S: 'now' } }), sha256('a|b')],
]

async function relayed(world: RelayWorld, images: readonly RowImage[], path: 'stream' | 'sweeper'): Promise<void> {
  if (path === 'stream') return void (await world.relay(images))
  for (const image of images) world.store.put(image)
  await world.clock.advance(HOUR)
  await world.sweep()
}
const ages = (image: RowImage): RowImage => ({ ...image, due: image['due'] ?? { N: '1700000000000' } })
const stored = (world: RelayWorld, image: RowImage) => world.store.get(keyOfRow(image))

describe.each(['stream', 'sweeper'] as const)('a row that comes by the %s', (path) => {
  it.each(MALFORMED)('with %s is dead-lettered alone', proves('undecodable-row'), async (_, image, reason) => {
    const world = createRelayWorld()
    // The sweeper reads the 64 shards that there are.
    const seen = path === 'stream' || reason !== '`shard`'
    await relayed(world, [image, GOOD], path)
    expect(world.queue.delivered.map(({ deduplicationId }) => deduplicationId)).toEqual([eventId({ source: 'shop', key: 'good' })]) // biome-ignore format: one line
    expect(stateOf(stored(world, GOOD))).toBe('relayed')
    expect(stateOf(stored(world, image))).toBe(seen ? 'dead' : 'pending')
    if (seen) expect(stored(world, image)?.['failure']?.S).toContain(reason)
    expect(textOf(world.log)).not.toContain('odd')
  })

  it.each(FOREIGN)('of another program, with %s, is sent once', async (_, image, id) => {
    const world = createRelayWorld()
    await relayed(world, [ages(image), GOOD], path)
    expect(world.queue.delivered).toHaveLength(2)
    expect(world.queue.delivered.map(({ deduplicationId }) => deduplicationId)).toContain(id)
    expect([stateOf(stored(world, image)), stateOf(stored(world, GOOD))]).toEqual(['relayed', 'relayed'])
  })

  it('of a newer version, or of another Region, is left alone and counted', async () => {
    const world = createRelayWorld()
    const newer = odd({ v: { N: '2' }, body: { M: {} } })
    const elsewhere = unorderedRow('elsewhere', { region: 'eu-west-1', extra: { body: undefined } })
    await relayed(world, [newer, elsewhere, GOOD], path)
    expect([newer, elsewhere, GOOD].map((image) => stateOf(stored(world, image)))).toEqual([
      'pending',
      'pending',
      'relayed',
    ])
    expect(world.counts.get('newerRows')).toBe(1)
  })

  it('whose key reads like another one is sent as itself', async () => {
    const world = createRelayWorld()
    const twins = [
      foreign('a b', 'c'),
      foreign('a', 'b c'),
      foreign('a|b', 'c'),
      foreign('a', 'b|c'),
      foreign('a b c', ''),
    ]
    await relayed(world, twins.map(ages), path)
    expect(world.queue.delivered).toHaveLength(twins.length)
    expect(twins.map((image) => stateOf(stored(world, image)))).toEqual(twins.map(() => 'relayed'))
  })

  it('beside a group whose name is its key is swept like any other', async () => {
    const world = createRelayWorld()
    const ordered = row({ pk: 'G#shop/g x', sk: '0000000000000001' }, { extra: { v: undefined } })
    const plain = foreign('G#shop/g', 'x')
    await relayed(world, [ordered, plain].map(ages), path)
    expect(world.queue.delivered).toHaveLength(2)
  })

  it('of a group stands in its way only until it is buried in its turn', async () => {
    const world = createRelayWorld()
    const rows = [1, 2, 3, 4].map((n) => orderedRow('g', n, n === 2 ? { extra: { body: undefined } } : {}))
    await relayed(world, rows, path)
    await world.clock.advance(HOUR)
    await world.sweep()
    expect(rows.map((image) => stateOf(stored(world, image)))).toEqual(['relayed', 'dead', 'relayed', 'relayed'])
  })

  it('with a number beyond all numbers is not taken for its neighbour', async () => {
    const world = createRelayWorld()
    const rows = ['9007199254740992', '9007199254740993', '9999999999999999'].map((sk) =>
      row({ pk: 'G#shop/g', sk }, {}),
    )
    await relayed(world, rows, path)
    await world.clock.advance(HOUR)
    await world.sweep()
    expect(world.queue.delivered).toEqual([])
    expect(rows.map((image) => stateOf(stored(world, image)))).toEqual(['dead', 'dead', 'dead'])
  })
})

describe('a group', () => {
  it.each([
    ['between two of its rows', (n: number) => `0000000000000001${n}`],
    ['before its first row', (n: number) => `0000000000000000${n}`],
    ['above all of its rows', (n: number) => `9${n}`],
    ['of the width of a number', (n: number) => `00000000000000${n}x`.slice(-16)],
  ])('drains, though 60 rows of another program lie %s', async (_, sk) => {
    const world = createRelayWorld()
    for (let n = 10; n < 70; n++) world.store.put(foreign('G#shop/g', sk(n)))
    const rows = [relayedRow(orderedRow('g', 1)), orderedRow('g', 2)]
    for (const image of rows) world.store.put(image)
    await world.clock.advance(HOUR)
    for (let minute = 0; minute < 3; minute++) await world.sweep()
    expect(rows.map((image) => stateOf(stored(world, image)))).toEqual(['relayed', 'relayed'])
    const groups = world.queue.delivered.filter(({ groupId }) => groupId === 'shop/g')
    expect(groups).toMatchObject([{ deduplicationId: eventId({ source: 'shop', group: 'g', sequence: 2 }) }])
  })
})

describe('a row that no index shows', () => {
  it('is listed when it was sent and its mark failed, so that a sweep marks it', async () => {
    const world = createRelayWorld()
    const image = foreign('a', 'b')
    world.store.disturbMarks('failed')
    expect(await world.relay([image])).toEqual([])
    expect(stateOf(stored(world, image))).toBe('pending')
    expect(stored(world, image)?.['due']).toBeDefined()
    await world.clock.advance(HOUR)
    await world.sweep()
    expect(stateOf(stored(world, image))).toBe('relayed')
    expect(world.counts.get('leftToSweeper')).toBe(1)
  })

  it('is reported when it can be neither marked nor listed', async () => {
    const world = createRelayWorld()
    world.store.fail('markRelayed')
    world.store.fail('list')
    expect(await world.relay([foreign('a', 'b'), GOOD])).toEqual(['000000000000000000001'])
  })
})

describe('the sweeper', () => {
  it('says in one line that the table is missing', async () => {
    const world = createRelayWorld()
    world.store.fail('readIndex', Object.assign(new Error('no such table'), { name: 'ResourceNotFoundException' }))
    await expect(world.sweep()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(world.log.filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        message: 'the index could not be read',
        fields: { shards: 64, reasons: ['ResourceNotFoundException'] },
      },
    ])
  })
})

describe('readRow', () => {
  it('never throws, and what it calls pending can be sent', () => {
    const attribute = fc.oneof(
      json,
      fc.constant(undefined),
      fc.record({ S: fc.oneof(json, fc.constantFrom('p#00', 'K#shop/k', '-', REGION, note(['a/b']))) }),
      fc.record({ N: fc.oneof(json, fc.constantFrom('0', '1', '2', '1e9')) }),
      fc.record({ SS: fc.oneof(json, fc.array(fc.string())) }),
    )
    const names = [
      'pk',
      'sk',
      'shard',
      'region',
      'v',
      'body',
      'type',
      'accepted',
      'redrives',
      'id',
      'created',
      'note',
    ] as const
    const parts = Object.fromEntries(names.map((name) => [name, attribute]))
    const image = fc.oneof(
      fc.record(parts, { requiredKeys: [] }),
      // Ours, with a few attributes replaced: most of these are nearly right.
      fc.record(parts, { requiredKeys: [] }).map((changes) => ({ ...unorderedRow('k'), ...changes })),
    )
    fc.assert(
      fc.property(image, (given) => {
        const reading = readRow(given as RowImage, new Set([REGION]))
        if (reading.kind !== 'pending') return
        const { deduplicationId, groupId, body, note: sent = '' } = outgoingMessage(reading.row)
        expect(deduplicationId).toMatch(/^[\x21-\x7e]{1,128}$/)
        expect(groupId).toMatch(/^[\x21-\x7e]{1,128}$/)
        expect(typeof body === 'string' && body !== '').toBe(true)
        expect(sent).toMatch(/^[ -~]{0,16384}$/)
      }),
      { numRuns: 1000 },
    )
  })

  it('gives every key an id of its own', () => {
    const text = fc.string({ unit: fc.constantFrom('|', 'a', 'b', ' '), minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(text, text, text, text, (pk, sk, otherPk, otherSk) => {
        fc.pre(pk !== otherPk || sk !== otherSk)
        const id = (one: string, two: string) => {
          const reading = readRow(foreign(one, two), new Set([REGION]))
          return reading.kind === 'pending' ? reading.row.id : undefined
        }
        expect(id(pk, sk)).toBeDefined()
        expect(id(pk, sk)).not.toBe(id(otherPk, otherSk))
      }),
    )
  })

  it('takes dead, relayed and pull workers’ rows for what they are, whatever else is wrong with them', () => {
    const wrong = { body: undefined, v: { S: 'x' }, region: { N: '1' } }
    const kinds = [
      deadRow(odd(wrong)),
      relayedRow(odd(wrong)),
      unorderedRow('odd', { shard: 'w#shop#1', extra: wrong as never }),
    ].map((image) => readRow(image, new Set([REGION])).kind)
    expect(kinds).toEqual(['settled', 'settled', 'pull'])
    expect(pendingShard({ pk: '', sk: '' })).toMatch(/^p#\d\d$/)
  })
})
