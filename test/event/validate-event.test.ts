import { describe, expect, it } from 'vitest'
import { isOutboxError } from '../../src/errors.ts'
import type { NewEvent } from '../../src/event/event.ts'
import { validateEvent } from '../../src/event/validate-event.ts'

const good = { source: 'shop', type: 'order.placed', key: 'o-1', data: null }
const ordered = { source: 'shop', type: 'order.placed', group: 'o', sequence: 1, data: null }

const NAME = 'must be 1–128 ASCII letters, digits and punctuation, no space'
const FORM = 'must have either key (unordered), or group and sequence (ordered), and not both'
const SEQUENCE = 'must be "auto" or a whole number from 1 to 9007199254740991'
const HEADER_NAME = 'must have a name of 1–20 lower-case letters and digits'
const HEADER = 'must be text without control characters, lone surrogates and noncharacters; got'
const TIME = 'must be a valid date or RFC 3339 text such as 2026-01-31T12:00:00Z; got'

/** Where an event breaks a rule, and what its error says of that. */
function refusal(event: unknown): { readonly path: string | undefined; readonly says: string } {
  try {
    validateEvent(event, 'events[0]')
  } catch (error) {
    if (!isOutboxError(error, 'INVALID_EVENT')) throw error
    const { path = '' } = error.details
    return { path, says: error.message.slice(path.length + 1) }
  }
  return { path: undefined, says: 'nothing' }
}
const pathOf = (event: unknown) => refusal(event).path ?? 'none'

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
    ['no event at all', null, '', 'must be an event; got null'],
    ['text for an event', 'shop', '', 'must be an event; got string'],
    [
      'an unknown member',
      { ...good, header: {} },
      '',
      'has an unknown member (number 5); allowed are source, type, data, headers, time, key, group, sequence',
    ],
    ['no source', { ...good, source: undefined }, '.source', `${NAME} and no "/"; got undefined`],
    [
      'an empty source',
      { ...good, source: '' },
      '.source',
      `${NAME} and no "/"; got text of 0 characters outside that`,
    ],
    [
      'a source with a slash',
      { ...good, source: 'a/b' },
      '.source',
      `${NAME} and no "/"; got text of 3 characters outside that`,
    ],
    [
      'a slash before a source',
      { ...good, source: '/b' },
      '.source',
      `${NAME} and no "/"; got text of 2 characters outside that`,
    ],
    [
      'a slash after a source',
      { ...good, source: 'b/' },
      '.source',
      `${NAME} and no "/"; got text of 2 characters outside that`,
    ],
    [
      'a source of 129 characters',
      { ...good, source: 'x'.repeat(129) },
      '.source',
      `${NAME} and no "/"; got text of 129 characters outside that`,
    ],
    [
      'a type of 129 characters',
      { ...good, type: 'x'.repeat(129) },
      '.type',
      `${NAME}; got text of 129 characters outside that`,
    ],
    ['a type that is a list', { ...good, type: ['t'] }, '.type', `${NAME}; got an array`],
    ['a type that is a date', { ...good, type: new Date(0) }, '.type', `${NAME}; got a date`],
    ['a key with a space', { ...good, key: 'a b' }, '.key', `${NAME}; got text of 3 characters outside that`],
    ['a space before a key', { ...good, key: ' b' }, '.key', `${NAME}; got text of 2 characters outside that`],
    [
      'a key with a line break at its end',
      { ...good, key: 'a\n' },
      '.key',
      `${NAME}; got text of 2 characters outside that`,
    ],
    ['a key beyond ASCII', { ...good, key: 'é' }, '.key', `${NAME}; got text of 1 characters outside that`],
    ['a key that is null', { ...good, key: null }, '.key', `${NAME}; got null`],
    ['a key that is a number', { ...good, key: 7 }, '.key', `${NAME}; got number`],
    ['a group that is an object', { ...ordered, group: {} }, '.group', `${NAME}; got an object`],
    ['both forms', { ...good, group: 'g', sequence: 1 }, '', FORM],
    ['key and group', { ...good, group: 'g' }, '', FORM],
    ['key and sequence', { ...good, sequence: 1 }, '', FORM],
    ['neither form', { ...good, key: undefined }, '', FORM],
    ['a group without sequence', { ...ordered, sequence: undefined }, '', FORM],
    ['a sequence without group', { ...ordered, group: undefined }, '', FORM],
    ['sequence 0', { ...ordered, sequence: 0 }, '.sequence', SEQUENCE],
    ['sequence 1.5', { ...ordered, sequence: 1.5 }, '.sequence', SEQUENCE],
    ['sequence 2^53', { ...ordered, sequence: 2 ** 53 }, '.sequence', SEQUENCE],
    ['sequence as text', { ...ordered, sequence: '1' }, '.sequence', SEQUENCE],
    ['headers that are an array', { ...good, headers: ['x'] }, '.headers', 'must be an object of texts; got an array'],
    [
      'headers that are a map',
      { ...good, headers: new Map([['a', 'x']]) },
      '.headers',
      'must be an object of texts; got an object',
    ],
    ['headers that are null', { ...good, headers: null }, '.headers', 'must be an object of texts; got null'],
    ['headers that are text', { ...good, headers: 'x' }, '.headers', 'must be an object of texts; got string'],
    ['a header in capitals', { ...good, headers: { Tenant: 'x' } }, '.headers[0]', HEADER_NAME],
    ['a header without a name', { ...good, headers: { '': 'x' } }, '.headers[0]', HEADER_NAME],
    ['a header with a dash in front', { ...good, headers: { '-a': 'x' } }, '.headers[0]', HEADER_NAME],
    ['a header with a dash at its end', { ...good, headers: { 'a-': 'x' } }, '.headers[0]', HEADER_NAME],
    ['a header of 21 characters', { ...good, headers: { ['x'.repeat(21)]: 'x' } }, '.headers[0]', HEADER_NAME],
    ['a header that is a number', { ...good, headers: { tenant: 1 } }, '.headers[0] (tenant)', `${HEADER} number`],
    [
      'a header with a control character',
      { ...good, headers: { tenant: 'a\n' } },
      '.headers[0] (tenant)',
      `${HEADER} text with such characters`,
    ],
    [
      'a header with a lone surrogate',
      { ...good, headers: { tenant: '\ud800' } },
      '.headers[0] (tenant)',
      `${HEADER} text with such characters`,
    ],
    [
      'a header with a noncharacter',
      { ...good, headers: { tenant: '\ufffe' } },
      '.headers[0] (tenant)',
      `${HEADER} text with such characters`,
    ],
    ['a date that does not parse', { ...good, time: new Date('x') }, '.time', `${TIME} an invalid date`],
    ['a time as a number', { ...good, time: 0 }, '.time', `${TIME} number`],
    [
      'a time that is no time',
      { ...good, time: 'yesterday' },
      '.time',
      `${TIME} text of 9 characters that is no such time`,
    ],
    [
      'a year of six digits',
      { ...good, time: new Date(8.64e15) },
      '.time',
      `${TIME} text of 27 characters that is no such time`,
    ],
  ])('refuses %s', (_, event, place, says) => {
    expect(refusal(event)).toEqual({ path: `events[0]${place}`, says: `${says}.` })
  })

  it.each(['specversion', 'id', 'source', 'type', 'subject', 'time', 'datacontenttype', 'dataschema', 'data'])(
    'refuses a header named %s, which CloudEvents has itself',
    (name) => {
      expect(refusal({ ...good, headers: { a: 'x', [name]: 'x' } })).toEqual({
        path: 'events[0].headers[1]',
        says: `must not be named "${name}", which the event itself sets.`,
      })
    },
  )

  it.each(['sequence', 'partitionkey', 'life'])('refuses a header named %s, which is ours', (name) => {
    expect(pathOf({ ...good, headers: { [name]: 'x' } })).toBe('events[0].headers[0]')
  })

  it('takes a header of 20 characters, and leaves out one that is undefined', () => {
    const name = 'x'.repeat(20)
    expect(validateEvent({ ...good, headers: { [name]: 'é', a: undefined } }, 'e').headers).toEqual({ [name]: 'é' })
    expect(validateEvent(good, 'e')).toEqual({ ...good, headers: {} })
  })

  it.each([
    '2026-01-31T12:00:00',
    '2026-02-30T12:00:00Z',
    '2025-02-29T12:00:00Z',
    '2026-13-01T12:00:00Z',
    '2026-01-31T25:00:00Z',
    ' 2026-01-31T12:00:00Z',
    '2026-01-31T12:00:00Z ',
    '+02026-01-31T12:00:00Z',
    '2026-1-31T12:00:00Z',
    '2026-01-1T12:00:00Z',
    '2026-01-31T12:00Z',
    '2026-01-31T12:00:00.Z',
    '2026-01-31T12:00:00.1234567890Z',
    '2026-01-31T12:00:00+2:00',
    '2026-01-31T12:00:00+0200',
  ])('refuses %j for a time', (time) => {
    expect(pathOf({ ...good, time })).toBe('events[0].time')
  })

  it.each(['2026-01-31T12:00:00Z', '2024-02-29T00:00:00.1Z', '2026-12-31T23:59:59.123456789-11:30'])(
    'takes %s for a time',
    (time) => {
      expect(validateEvent({ ...good, time }, 'e').time).toBe(time)
    },
  )

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
