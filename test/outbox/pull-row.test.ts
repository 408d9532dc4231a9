import { describe, expect, it } from 'vitest'
import { encodeBody } from '../../src/event/codec.ts'
import { eventId } from '../../src/event/identity.ts'
import { decidePull, readPullRow } from '../../src/outbox/pull-row.ts'
import { pullShard, rowKey } from '../../src/outbox/row.ts'

const NOW = 1_800_000_000_000
const identity = { source: 'shop', key: 'a' }
const key = rowKey(identity)
const shard = pullShard(key) ?? ''
const body = encodeBody({ identity, type: 't', time: '', dataText: '1', headers: {}, life: 7 })
const stored = { ...key, shard, region: 'eu-west-1', v: 1, due: NOW, token: 't1', claims: 2, body }
const at = { source: 'shop', region: 'eu-west-1' }

const read = (change: object = {}) => readPullRow({ ...stored, ...change }, at)

describe('a row for pull workers', () => {
  it('is read with all that a claim needs', () => {
    expect(read()).toEqual({
      kind: 'waiting',
      row: {
        key,
        version: { shard, token: 't1', due: NOW },
        claims: 2,
        event: expect.objectContaining({ id: eventId(identity), key: 'a', data: 1, life: 7 }),
      },
    })
  })

  it('was never claimed where it does not say so, and has no token or due then', () => {
    const { token, due, claims, ...fresh } = stored
    expect(readPullRow(fresh, at)).toMatchObject({ row: { claims: 0, version: { token: undefined, due: undefined } } })
    expect(read({ token: 1, due: 'x' })).toMatchObject({ row: { version: { token: undefined, due: undefined } } })
  })

  it('has the note of its round, if it can be read', () => {
    const note = { life: 9, handlers: ['c/h'] }
    expect(read({ note: JSON.stringify(note) })).toMatchObject({ row: { note } })
    for (const odd of ['nonsense', 7]) {
      const reading = read({ note: odd })
      expect(reading.kind === 'waiting' && 'note' in reading.row).toBe(false)
    }
    const tooMany = JSON.stringify({ life: 9, handlers: Array.from({ length: 101 }, () => 'c/h') })
    expect(read({ note: tooMany })).toMatchObject({ kind: 'malformed', reason: expect.stringContaining('`note`') })
  })

  it('of another writer’s event goes by the id of its key', () => {
    const foreign = JSON.stringify({ specversion: '1.0', id: '7', source: '/x', type: 't', data: 1 })
    expect(read({ body: foreign })).toMatchObject({ row: { event: { id: eventId(identity), life: 0 } } })
  })

  it.each([
    ['nothing', undefined],
    ['a row without a pk', { ...stored, pk: undefined }],
    ['a row without an sk', { ...stored, sk: 7 }],
    ['a relayed row', { ...stored, shard: undefined }],
    ['a dead row', { ...stored, shard: 'd#0' }],
    ['a relay’s row', { ...stored, shard: 'p#00' }],
  ])('is passed where it is no such row: %s', (_, row) => {
    expect(readPullRow(row as never, at)).toEqual({ kind: 'passed' })
  })

  it('of another Region or a newer version is somebody else’s', () => {
    expect(read({ region: 'us-east-1', v: 2 })).toEqual({ kind: 'elsewhere' })
    expect(read({ v: 2 })).toEqual({ kind: 'newer' })
    expect(read({ v: '2' }).kind).toBe('waiting')
  })

  it.each<[{ readonly pk?: string; readonly claims?: unknown }, string]>([
    [{ pk: 'K#other/a' }, 'the key has none of the two forms, or another source than `shard`'],
    [{ pk: 'foreign' }, 'the key has none of the two forms, or another source than `shard`'],
    [{ region: undefined } as object, '`region` is missing'],
    [{ claims: 1.5 }, '`claims` is no whole number'],
    [{ claims: 'x' }, '`claims` is no whole number'],
    [{ body: undefined } as object, '`body` is missing or no text'],
    [{ body: 'x' } as object, 'the body is not JSON'],
  ])('that cannot be understood says why, and which row it is: %j', (change, reason) => {
    const { pk } = { ...stored, ...change }
    const claims = typeof change.claims === 'number' ? change.claims : 'claims' in change ? 0 : 2
    expect(read(change)).toEqual({
      kind: 'malformed',
      key: { ...key, pk },
      version: { shard, token: 't1', due: NOW },
      claims,
      reason,
    })
  })
})

describe('what a pull worker may do with it', () => {
  const decide = (change: object = {}, maxClaims = 3) => decidePull(read(change), { now: NOW, maxClaims })

  it('is claim it when it is due, also where it does not say when', () => {
    expect(decide()).toMatchObject({ action: 'claim', row: { key } })
    expect(decide({ due: undefined })).toMatchObject({ action: 'claim' })
    expect(decide({ due: NOW + 1 })).toEqual({ action: 'leave', why: 'wait' })
  })

  it('is bury it once its claims are spent', () => {
    expect(decide({ claims: 3 })).toEqual({
      action: 'bury',
      key,
      version: { shard, token: 't1', due: NOW },
      claims: 3,
      reason: 'claimed 3 times, and the last claim lapsed without an answer',
      malformed: false,
    })
    expect(decide({ claims: 3, due: NOW + 1 })).toEqual({ action: 'leave', why: 'wait' })
  })

  it('is bury it at once where it cannot be understood', () => {
    expect(decide({ body: 'x', due: NOW + 1 })).toMatchObject({
      action: 'bury',
      reason: 'malformed: the body is not JSON',
      malformed: true,
      claims: 2,
    })
  })

  it('is leave it where it is nobody’s or somebody else’s', () => {
    expect(decide({ shard: undefined })).toEqual({ action: 'leave', why: 'passed' })
    expect(decide({ v: 2 })).toEqual({ action: 'leave', why: 'newer' })
    expect(decide({ region: 'x' })).toEqual({ action: 'leave', why: 'elsewhere' })
  })
})
