import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eventId, eventKey, firstSequence, formatSequence } from '../../src/event/identity.ts'

describe('the identity of an event', () => {
  it('is the lowercase hex SHA-256 of source, slash and key', () => {
    const expected = createHash('sha256').update('shop/order:1').digest('hex')
    expect(eventId({ source: 'shop', key: 'order:1' })).toBe(expected)
  })

  it('joins group and number with a space, which no key of a caller may hold', () => {
    expect(eventKey({ source: 'shop', group: 'customer-7', sequence: 12 })).toBe('customer-7 12')
  })

  it('writes numbers so that text order is number order', () => {
    const numbers = [1, 9, 10, 20_789_000_000_001, Number.MAX_SAFE_INTEGER]
    const texts = numbers.map(formatSequence)
    expect(texts.toSorted()).toEqual(texts)
    expect(new Set(texts.map(({ length }) => length))).toEqual(new Set([16]))
  })

  it('starts an empty group at a number that no earlier day can have reached', () => {
    const day = 86_400_000
    const today = Date.UTC(2026, 10, 30)
    expect(firstSequence(today)).toBe(20_787 * 1e9 + 1)
    // A day's events of one group, at a thousand a second, end below the next day's first number.
    expect(firstSequence(today) + 86_400 * 1000).toBeLessThan(firstSequence(today + day))
  })
})
