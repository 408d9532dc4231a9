import { describe, expect, it } from 'vitest'
import { isOutboxError } from '../../src/errors.ts'
import type { NewEvent } from '../../src/event/event.ts'
import { validateEvent } from '../../src/event/validate-event.ts'

const good = { source: 'shop', type: 'order.placed', key: 'o-1', data: null }
const ordered = { source: 'shop', type: 'order.placed', group: 'o', sequence: 1, data: null }

function pathOf(event: unknown): string | undefined {
  try {
    validateEvent(event, 'events[0]')
  } catch (error) {
    if (isOutboxError(error, 'INVALID_EVENT')) return error.details.path
    throw error
  }
  return 'none'
}

describe('validateEvent', () => {
  it('takes 128 characters of ASCII punctuation, and both forms', () => {
    const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~'
    expect(pathOf({ ...good, key: punctuation, type: 'x'.repeat(128), source: punctuation.replace('/', '') })).toBe(
      'none',
    )
    expect(pathOf({ ...ordered, sequence: Number.MAX_SAFE_INTEGER })).toBe('none')
    expect(pathOf({ ...ordered, sequence: 'auto' })).toBe('none')
  })

  it.each([
    ['no source', { ...good, source: undefined }, 'events[0].source'],
    ['an empty source', { ...good, source: '' }, 'events[0].source'],
    ['a source with a slash', { ...good, source: 'a/b' }, 'events[0].source'],
    ['a type of 129 characters', { ...good, type: 'x'.repeat(129) }, 'events[0].type'],
    ['a key with a space', { ...good, key: 'a b' }, 'events[0].key'],
    ['a key with a line break at its end', { ...good, key: 'a\n' }, 'events[0].key'],
    ['a key beyond ASCII', { ...good, key: 'é' }, 'events[0].key'],
    ['both forms', { ...good, group: 'g', sequence: 1 }, 'events[0]'],
    ['key and sequence', { ...good, sequence: 1 }, 'events[0]'],
    ['neither form', { ...good, key: undefined }, 'events[0]'],
    ['a group without sequence', { ...ordered, sequence: undefined }, 'events[0]'],
    ['sequence 0', { ...ordered, sequence: 0 }, 'events[0].sequence'],
    ['sequence 1.5', { ...ordered, sequence: 1.5 }, 'events[0].sequence'],
    ['sequence 2^53', { ...ordered, sequence: 2 ** 53 }, 'events[0].sequence'],
    ['sequence as text', { ...ordered, sequence: '1' }, 'events[0].sequence'],
    ['an unknown member', { ...good, header: {} }, 'events[0]'],
    ['no event at all', null, 'events[0]'],
    ['a header named as an attribute', { ...good, headers: { subject: 'x' } }, 'events[0].headers[0]'],
    ['a header named as ours', { ...good, headers: { a: 'x', life: 'x' } }, 'events[0].headers[1]'],
    ['a header in capitals', { ...good, headers: { Tenant: 'x' } }, 'events[0].headers[0]'],
    ['a header of 21 characters', { ...good, headers: { ['x'.repeat(21)]: 'x' } }, 'events[0].headers[0]'],
    ['a header that is a number', { ...good, headers: { tenant: 1 } }, 'events[0].headers[0] (tenant)'],
    ['a header with a control character', { ...good, headers: { tenant: 'a\n' } }, 'events[0].headers[0] (tenant)'],
    ['a header with a lone surrogate', { ...good, headers: { tenant: '\ud800' } }, 'events[0].headers[0] (tenant)'],
    ['headers that are an array', { ...good, headers: ['x'] }, 'events[0].headers'],
    ['a date that does not parse', { ...good, time: new Date('x') }, 'events[0].time'],
    ['a time that is no time', { ...good, time: 'yesterday' }, 'events[0].time'],
    ['a time without a zone', { ...good, time: '2026-01-31T12:00:00' }, 'events[0].time'],
    ['30 February', { ...good, time: '2026-02-30T12:00:00Z' }, 'events[0].time'],
    ['a time as a number', { ...good, time: 0 }, 'events[0].time'],
    ['a year of six digits', { ...good, time: new Date(8.64e15) }, 'events[0].time'],
  ])('refuses %s', (_, event, path) => {
    expect(pathOf(event)).toBe(path)
  })

  it('keeps a time of text as it was given and writes a date in RFC 3339', () => {
    const text = '2024-02-29T23:59:59.123456+02:00'
    expect(validateEvent({ ...good, time: text }, 'e').time).toBe(text)
    expect(validateEvent({ ...good, time: new Date(0) }, 'e').time).toBe('1970-01-01T00:00:00.000Z')
  })

  it('never shows what it refuses', () => {
    for (const event of [
      { ...good, key: 'secret key' },
      { ...good, 'secret key': 1 },
      { ...good, headers: { 'secret key': '1' } },
    ]) {
      expect(() => validateEvent(event, 'events[0]')).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('secret') }),
      )
    }
  })

  it('lets neither both forms nor none of them compile', () => {
    // @ts-expect-error both forms
    const both: NewEvent = { ...good, group: 'g', sequence: 1 }
    // @ts-expect-error neither form
    const neither: NewEvent = { source: 's', type: 't', data: null }
    expect([pathOf(both), pathOf(neither)]).toEqual(['events[0]', 'events[0]'])
  })
})
