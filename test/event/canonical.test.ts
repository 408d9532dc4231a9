import { describe, expect, it } from 'vitest'
import { canonicalJson, sameJson } from '../../src/event/canonical.ts'

describe('canonicalJson', () => {
  it('writes the example of RFC 8785', () => {
    const value = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '€$\u000F\nA\'B"\\\\"/',
      literals: [null, true, false],
    }
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    )
  })

  it('sorts members by UTF-16 code units, as RFC 8785 asks', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6']
    const sorted = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33']
    const text = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])))
    expect(text).toBe(`{${sorted.map((name) => `${JSON.stringify(name)}:0`).join(',')}}`)
  })
})

describe('sameJson', () => {
  it.each([
    ['{"a":1,"b":[{"c":1,"d":2}]}', '{"b":[{"d":2,"c":1}],"a":1}', true],
    ['1.0', '1', true],
    ['-0', '0', true],
    ['1e21', '1000000000000000000000', true],
    ['"\\u0041"', '"A"', true],
    ['[1,2]', '[2,1]', false],
    ['{"a":null}', '{}', false],
    ['"1"', '1', false],
    ['[]', '{}', false],
    ['{"10":1,"9":2}', '{"9":2,"10":1}', true],
    ['{"__proto__":1}', '{}', false],
  ])('%s and %s: %s', (a, b, same) => {
    expect(sameJson(JSON.parse(a), JSON.parse(b))).toBe(same)
  })
})
