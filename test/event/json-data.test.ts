import { describe, expect, it } from 'vitest'
import { isOutboxError } from '../../src/errors.ts'
import { jsonText, MAX_DATA_DEPTH } from '../../src/event/json-data.ts'
import { proves } from '../cases.ts'

function refusal(value: unknown): { readonly path: string | undefined; readonly message: string } {
  try {
    jsonText(value, 'data')
  } catch (error) {
    if (!isOutboxError(error, 'INVALID_EVENT')) throw error
    return { path: error.details.path, message: error.message }
  }
  throw new Error('was taken')
}

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let n = 0; n < levels; n++) value = n % 2 === 0 ? [value] : { a: value }
  return value
}

const cycle: { self?: unknown } = {}
cycle.self = { inner: [cycle] }

class Money {
  readonly amount = 1
}

describe('jsonText', () => {
  it.each([
    ['undefined members', { a: undefined, b: 1 }],
    ['undefined and holes in arrays', [undefined, 1]],
    ['numbers JSON can write', [1.23e40, 1e-7, 2 ** 53 + 2, 1e21, -0, 0.1]],
    ['dates', { at: new Date(0) }],
    ['toJSON of a class', { price: { toJSON: () => ({ amount: 1, unit: undefined }) } }],
    ['objects without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['odd member names', { '': 1, 'a b': 2, '"': 3, '\u2028': 4 }],
    ['text of all kinds', ['', 'a"\\\n\u0000\u001f', '\ud800', '😀', '\u2028']],
    ['symbol keys', { [Symbol('x')]: 1, a: 1 }],
  ])('writes %s as JSON.stringify does', proves('json-semantics'), (_, value) => {
    expect(jsonText(value, 'data')).toBe(JSON.stringify(value))
  })

  it('keeps a member named __proto__', () => {
    expect(jsonText(JSON.parse('{"__proto__":{"a":1}}'), 'data')).toBe('{"__proto__":{"a":1}}')
  })

  it.each([
    ['BigInt', { items: [0, { total: 1n }] }, 'data.items[1].total'],
    ['NaN', { a: { b: Number.NaN } }, 'data.a.b'],
    ['Infinity', [[Number.NEGATIVE_INFINITY]], 'data[0][0]'],
    ['a Map', { m: new Map() }, 'data.m'],
    ['a Set', { 'a b': new Set() }, 'data["a b"]'],
    ['a typed array', { t: new Uint8Array(1) }, 'data.t'],
    ['a Buffer', { t: Buffer.from('x') }, 'data.t'],
    ['an ArrayBuffer', { t: new ArrayBuffer(1) }, 'data.t'],
    ['a function', { f: () => 1 }, 'data.f'],
    ['a function in an array', [() => 1], 'data[0]'],
    ['a symbol', { s: Symbol('s') }, 'data.s'],
    ['a class instance', { m: new Money() }, 'data.m'],
    ['an Error', { e: new Error('x') }, 'data.e'],
    ['an invalid date', { d: new Date('nonsense') }, 'data.d'],
    ['a cycle', cycle, 'data.self.inner[0]'],
    ['undefined itself', undefined, 'data'],
  ])('refuses %s with its path', proves('not-json'), (_, value, path) => {
    expect(refusal(value).path).toBe(path)
  })

  it('takes one value twice where it is no cycle', () => {
    const twice = { a: 1 }
    expect(jsonText([twice, twice], 'data')).toBe('[{"a":1},{"a":1}]')
  })

  it('takes 500 levels and refuses 501', () => {
    expect(JSON.parse(jsonText(nested(MAX_DATA_DEPTH), 'data'))).toEqual(nested(MAX_DATA_DEPTH))
    expect(refusal(nested(MAX_DATA_DEPTH + 1)).message).toContain('500')
  })

  it('names the path and never the value', () => {
    const { message } = refusal({ secret: { toString: () => 'hunter2', big: 123456789123456789n } })
    expect(message).toMatch(/^data\.secret\.toString is function/)
    expect(message).not.toContain('hunter2')
    expect(refusal({ n: 123456789n }).message).not.toContain('123456789')
  })
})
