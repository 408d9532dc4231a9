import { runInNewContext } from 'node:vm'
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

const CLASS_INSTANCE = 'an instance of a class without toJSON'
const PLAIN = 'plain objects, arrays, text, numbers, true, false and null'

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
    ['BigInt', { items: [0, { total: 1n }] }, 'data.items[1].total', 'bigint', 'text or a number'],
    ['NaN', { a: { b: Number.NaN } }, 'data.a.b', 'NaN', 'a finite number, null or text'],
    ['Infinity', [[Number.NEGATIVE_INFINITY]], 'data[0][0]', '-Infinity', 'a finite number, null or text'],
    ['a Map', { m: new Map() }, 'data.m', CLASS_INSTANCE, PLAIN],
    ['a Set', { 'a b': new Set() }, 'data["a b"]', CLASS_INSTANCE, PLAIN],
    ['a typed array', { t: new Uint8Array(1) }, 'data.t', 'bytes', 'base64 text'],
    ['a Buffer', { t: Buffer.from('x') }, 'data.t', 'bytes', 'base64 text'],
    ['an ArrayBuffer', { t: new ArrayBuffer(1) }, 'data.t', 'bytes', 'base64 text'],
    ['a function', { f: () => 1 }, 'data.f', 'function', 'a JSON value, or leave it out'],
    ['a function in an array', [() => 1], 'data[0]', 'function', 'a JSON value, or leave it out'],
    ['a symbol', { s: Symbol('s') }, 'data.s', 'symbol', 'a JSON value, or leave it out'],
    ['a class instance', { m: new Money() }, 'data.m', CLASS_INSTANCE, PLAIN],
    ['an Error', { e: new Error('x') }, 'data.e', CLASS_INSTANCE, PLAIN],
    ['an invalid date', { d: new Date('nonsense') }, 'data.d', 'an invalid date', 'a valid date'],
    ['a cycle', cycle, 'data.self.inner[0]', 'a reference to a value around it (a cycle)', 'a tree of values'],
    ['undefined itself', undefined, 'data', 'undefined', 'any JSON value; for "no data" give null'],
  ])('refuses %s with its path', proves('not-json'), (_, value, path, got, allowed) => {
    expect(refusal(value)).toEqual({ path, message: `${path} is ${got}, which JSON cannot hold. Give ${allowed}.` })
  })

  it('takes one value twice where it is no cycle', () => {
    const twice = { a: 1 }
    expect(jsonText([twice, twice], 'data')).toBe('[{"a":1},{"a":1}]')
  })

  it('takes 500 levels and refuses 501', () => {
    expect(JSON.parse(jsonText(nested(MAX_DATA_DEPTH), 'data'))).toEqual(nested(MAX_DATA_DEPTH))
    expect(refusal(nested(MAX_DATA_DEPTH + 1)).message).toMatch(/ is more than 500 levels, .* Give at most 500\.$/)
  })

  it('ends what refers to itself twice on each of many levels, long before memory does', () => {
    let value: unknown = 'x'
    for (let level = 0; level < 40; level++) value = { a: value, b: value }
    expect(refusal(value).message).toMatch(/ goes beyond 1048576 characters of data\. Store large data apart\.$/)
  })

  it('counts text, names and what separates them towards the most it takes', () => {
    const most = 1_048_576
    expect(jsonText('x'.repeat(most), 'data')).toHaveLength(most + 2)
    expect(refusal('x'.repeat(most + 1)).path).toBe('data')
    expect(refusal({ ['n'.repeat(most)]: 1 }).message).toContain('goes beyond')
    expect(refusal(Array(most / 2 + 1).fill(1)).path).toBe(`data[${most / 2}]`)
  })

  it('shows no more of a long path than its beginning', () => {
    const { path, message } = refusal({ ['p'.repeat(400)]: 1n })
    expect(path).toBe(`data.${'p'.repeat(295)}…`)
    expect(message).toMatch(/^data\.p{295}… is bigint/)
    expect(refusal({ ['p'.repeat(295)]: 1n }).path).toBe(`data.${'p'.repeat(295)}`)
  })

  it.each(['a', 'A_$1', '$x', '_'])('writes a member named %s with a dot into a path', (name) => {
    expect(refusal({ [name]: 1n }).path).toBe(`data.${name}`)
  })

  it.each(['1a', 'a b', 'a-', ' a', '', 'é'])('writes a member named %j in brackets into a path', (name) => {
    expect(refusal({ [name]: 1n }).path).toBe(`data[${JSON.stringify(name)}]`)
  })

  it('hands toJSON the name under which its value stands, as JSON.stringify does', () => {
    const named = { toJSON: (key: string) => `at ${key}` }
    expect(jsonText({ a: named, list: [named] }, 'data')).toBe('{"a":"at a","list":["at 0"]}')
    expect(jsonText(named, 'data')).toBe('"at "')
    expect(jsonText({ toJSON: 'no function' }, 'data')).toBe('{"toJSON":"no function"}')
  })

  it('takes objects of another realm, and no map that lost its prototype', () => {
    expect(jsonText(runInNewContext('({ a: [1] })'), 'data')).toBe('{"a":[1]}')
    expect(refusal(runInNewContext('new Map()')).message).toContain(CLASS_INSTANCE)
    for (const odd of [new Map(), new Set()]) {
      expect(refusal(Object.setPrototypeOf(odd, Object.prototype)).message).toContain(CLASS_INSTANCE)
    }
  })

  it('names the path and never the value', () => {
    const { message } = refusal({ secret: { toString: () => 'hunter2', big: 123456789123456789n } })
    expect(message).toMatch(/^data\.secret\.toString is function/)
    expect(message).not.toContain('hunter2')
    expect(refusal({ n: 123456789n }).message).not.toContain('123456789')
  })
})
