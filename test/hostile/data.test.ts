import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeBody, encodeBody } from '../../src/event/codec.ts'
import { jsonText } from '../../src/event/json-data.ts'
import { proves } from '../cases.ts'
import { anyText } from '../support/any-event.ts'
import { fail, SECRET, untouchable } from './hostile-things.ts'

/** The text, or the code and path of the refusal. */
function written(value: unknown): string | { readonly code: unknown; readonly message: string } {
  try {
    return jsonText(value, 'data')
  } catch (error) {
    return error as { readonly code: unknown; readonly message: string }
  }
}

/** A value that refers twice to the one below it, on each of so many levels: a few bytes here, 2^levels as text. */
function doubling(levels: number): unknown {
  let value: unknown = 'ha'
  for (let n = 0; n < levels; n++) value = n % 2 === 0 ? [value, value] : { a: value, b: value }
  return value
}

describe('data', () => {
  it.each<[title: string, value: unknown]>([
    ['a toJSON that gives one that is no function', { toJSON: () => ({ toJSON: 1, a: 1 }) }],
    ['a toJSON that is no function', { toJSON: 5, a: 1 }],
    ['a toJSON that gives undefined, within', { a: { toJSON: () => undefined }, b: 1 }],
    ['getters', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true })],
    ['members that are not enumerable', Object.defineProperty({ a: 1 }, 'b', { value: 2 })],
    ['a proxy of an object', new Proxy({ a: [1] }, {})],
    ['a proxy of an array', new Proxy([1, 2], {})],
    ['an array with members of its own', Object.assign([1], { extra: 2 })],
    ['an array with holes', Object.assign(new Array(3), { 1: 'x' })],
    ['names of every object', { constructor: 1, hasOwnProperty: 2, toString: 3, valueOf: 4, __proto__x: 5 }],
    ['members named like the event’s', { specversion: '0', data: { data: 1 }, id: 'x' }],
    ['an object of another realm', JSON.parse('{"__proto__":{"polluted":true},"a":{"__proto__":null}}')],
    ['frozen objects', Object.freeze({ a: Object.freeze([1]) })],
    ['all of ASCII, as names', Object.fromEntries(Array.from({ length: 128 }, (_, n) => [String.fromCharCode(n), n]))],
  ])('with %s is what JSON says it is', proves('json-semantics'), (_, value) => {
    expect(written(value)).toBe(JSON.stringify(value))
  })

  it.each<[title: string, value: unknown]>([
    ['doubles itself on each of 60 levels', doubling(60)],
    ['is an array of four billion holes', new Array(2 ** 32 - 1)],
    ['has one hole after a billion', Object.assign([], { 1000000000: 1 })],
    ['is a text of 50 MB', 'x'.repeat(50_000_000)],
    ['grows with every toJSON', grower()],
    ['is its own proxy', selfProxy()],
    ['has boxed values', { a: new String('x') }],
    ['is a promise', Promise.resolve(1)],
    ['is a generator', (function* () {})()],
    ['is a WeakMap', new WeakMap()],
    ['is an Error', new Error(SECRET)],
    ['has a toJSON from toJSON', { toJSON: () => ({ toJSON: () => 1 }) }],
    ['has a BigInt from toJSON', { toJSON: () => 1n }],
  ])('that %s is refused at once, with a code', proves('not-json'), (_, value) => {
    const refusal = written(value)
    expect(refusal).toMatchObject({ code: 'INVALID_EVENT' })
    const { message } = refusal as { readonly message: string }
    expect(message).not.toContain(SECRET)
    expect(message.length).toBeLessThan(600)
  })

  it.each<[title: string, value: unknown]>([
    ['a getter', Object.defineProperty({}, 'a', { get: fail, enumerable: true })],
    ['a toJSON', { toJSON: fail }],
    ['a proxy', untouchable()],
  ])('with %s that throws is refused by its own error, before anything is sent', (_, value) => {
    expect(() => jsonText(value, 'data')).toThrow(SECRET)
  })

  it('is read once from objects that change as they are read', () => {
    let reads = 0
    const shifty = { get n() { return ++reads } } // biome-ignore format: one line
    expect(written({ shifty })).toBe('{"shifty":{"n":1}}')
    expect(reads).toBe(1)
  })

  it('of any UTF-16 text, as names and values, comes back as it was', proves('odd-characters'), () => {
    const tree = fc.letrec((tie) => ({
      any: fc.oneof(
        anyText,
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.constant(null),
        tie('list'),
        tie('map'),
      ),
      list: fc.array(tie('any'), { maxLength: 4 }),
      map: fc.dictionary(fc.oneof(anyText, fc.constantFrom('__proto__', 'constructor', 'toJSON')), tie('any'), {
        maxKeys: 4,
      }),
    })).any
    fc.assert(
      fc.property(tree, (value) => {
        const identity = { source: 's', key: 'k' }
        const body = encodeBody({ identity, type: 't', time: '2027-01-15T08:00:00Z', dataText: jsonText(value, 'data'), headers: {}, life: 1 }) // biome-ignore format: one line
        expect(body).toMatch(/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u)
        const decoded = decodeBody(body)
        expect(decoded.ok && JSON.stringify(decoded.event.data)).toBe(JSON.stringify(value))
      }),
      { numRuns: 500 },
    )
  })
})

function grower(): object {
  return { toJSON: () => ({ again: grower() }) }
}

/** Whatever member is asked for, it is the object itself again, under another name each time. */
function selfProxy(): object {
  let n = 0
  const proxy: object = new Proxy(
    {},
    {
      ownKeys: () => [`m${n++}`],
      getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }),
      get: (_, name) => (name === 'toJSON' ? undefined : new Proxy({}, { ownKeys: () => ['x'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }), get: (__, inner) => (inner === 'toJSON' ? undefined : proxy) })), // biome-ignore format: one line
    },
  )
  return proxy
}
