import { describe, expect, it } from 'vitest'
import type { Identity } from '../../src/event/identity.ts'
import {
  ALL_DEAD_SHARDS,
  ALL_PENDING_SHARDS,
  deadShard,
  identityOf,
  isDueAt,
  isOrderedKey,
  keyText,
  pendingShard,
  pullShard,
  pullShards,
  rowKey,
  rowState,
  waitingShard,
} from '../../src/outbox/row.ts'

const HOUR = 3_600_000
const unordered: Identity = { source: 'shop', key: 'a/bc' }
const ordered: Identity = { source: 'shop', group: 'order/7', sequence: 42 }

describe('the key of a row', () => {
  it('has two forms, and says whose it is', () => {
    expect(rowKey(unordered)).toEqual({ pk: 'K#shop/a/bc', sk: '-' })
    expect(rowKey(ordered)).toEqual({ pk: 'G#shop/order/7', sk: '0000000000000042' })
    for (const identity of [unordered, ordered]) expect(identityOf(rowKey(identity))).toEqual(identity)
  })

  it.each([
    ['no slash', { pk: 'K#shop', sk: '-' }],
    ['no source', { pk: 'K#/k', sk: '-' }],
    ['no key', { pk: 'K#shop/', sk: '-' }],
    ['an unordered one with a number', { pk: 'K#shop/k', sk: '0000000000000042' }],
    ['an ordered one without', { pk: 'G#shop/g', sk: '-' }],
    ['15 digits', { pk: 'G#shop/g', sk: '000000000000042' }],
    ['17 digits', { pk: 'G#shop/g', sk: '00000000000000042' }],
    ['a letter among the digits', { pk: 'G#shop/g', sk: '00000000000000x2' }],
    ['a number beyond what a double tells apart', { pk: 'G#shop/g', sk: '9007199254740992' }],
    ['another beginning', { pk: 'X#shop/g', sk: '0000000000000042' }],
  ])('of another form is nobody’s: %s', (_, key) => {
    expect(identityOf(key)).toBeUndefined()
  })

  it('is ordered by its beginning and its sixteen digits', () => {
    expect(isOrderedKey({ pk: 'G#x', sk: '9999999999999999' })).toBe(true)
    expect(isOrderedKey({ pk: 'K#x', sk: '9999999999999999' })).toBe(false)
    expect(isOrderedKey({ pk: 'xG#', sk: '9999999999999999' })).toBe(false)
  })

  it('has one text, whatever separators are in it', () => {
    const keys = [
      { pk: 'a', sk: 'b c' },
      { pk: 'a b', sk: 'c' },
      { pk: 'a ', sk: 'b c' },
      { pk: '1 a', sk: 'b' },
    ]
    expect(new Set(keys.map(keyText)).size).toBe(keys.length)
  })
})

describe('the shard of a row', () => {
  it('says its state', () => {
    expect([undefined, 'p#00', 'd#0', 'w#shop#0'].map(rowState)).toEqual(['relayed', 'pending', 'dead', 'pull'])
  })

  it('is one of 64 while it is pending and one of 8 once it is dead, all in use', () => {
    expect(ALL_PENDING_SHARDS).toHaveLength(64)
    expect([ALL_PENDING_SHARDS[0], ALL_PENDING_SHARDS[7], ALL_PENDING_SHARDS[63]]).toEqual(['p#00', 'p#07', 'p#63'])
    expect(ALL_DEAD_SHARDS).toEqual(Array.from({ length: 8 }, (_, n) => `d#${n}`))
    const keys = Array.from({ length: 2000 }, (_, n) => rowKey({ source: 'shop', key: `k${n}` }))
    expect([...new Set(keys.map(pendingShard))].toSorted()).toEqual(ALL_PENDING_SHARDS)
    expect([...new Set(keys.map(deadShard))].toSorted()).toEqual(ALL_DEAD_SHARDS)
  })

  it('is the same for all rows of a group, and of a foreign key too a constant', () => {
    const group = [1, 2, 3].map((sequence) => rowKey({ source: 'shop', group: 'g', sequence }))
    expect(new Set(group.map(pendingShard)).size).toBe(1)
    const foreign = Array.from({ length: 500 }, (_, n) => ({ pk: `table ${n}`, sk: 'x' }))
    expect(new Set(foreign.map(pendingShard)).size).toBeGreaterThan(50)
    expect(pendingShard({ pk: 'a|b', sk: 'c' })).toBe(pendingShard({ pk: 'a|b', sk: 'c' }))
  })

  it('of a pull worker’s row is one of its source’s eight; a foreign key has none', () => {
    const keys = Array.from({ length: 300 }, (_, n) => rowKey({ source: 'shop', key: `k${n}` }))
    expect([...new Set(keys.map(pullShard))].toSorted()).toEqual(pullShards('shop'))
    expect(pullShards('shop')).toEqual(Array.from({ length: 8 }, (_, n) => `w#shop#${n}`))
    expect(pullShard({ pk: 'foreign', sk: 'x' })).toBeUndefined()
  })

  it('in which it waits again is the one of whoever had it', () => {
    const key = rowKey(unordered)
    expect(waitingShard(key)).toBe(pendingShard(key))
    expect(waitingShard({ ...key, claims: 0 })).toBe(pullShard(key))
    expect(waitingShard({ pk: 'foreign', sk: 'x', claims: 1 })).toBe(pendingShard({ pk: 'foreign', sk: 'x' }))
  })
})

describe('a due', () => {
  it('has come when it has, or where a clock was more than 25 hours ahead', () => {
    const now = 1_800_000_000_000
    expect([now, now + 1, now + 25 * HOUR, now + 25 * HOUR + 1].map((due) => isDueAt(due, now))).toEqual([
      true,
      false,
      false,
      true,
    ])
  })
})
