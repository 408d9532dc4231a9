import { describe, expect, it } from 'vitest'
import { decodeLifeNote, encodeLifeNote, isPossibleNote } from '../../src/event/life.ts'

const note = { life: 1_800_000_000_001, handlers: ['shop/reserve'], attempts: 8, reason: 'schöne Grüße, \uFFFE' }

describe('a life note', () => {
  it('is read as it was written, in ASCII', () => {
    expect(encodeLifeNote(note)).toMatch(/^[ -~]+$/)
    expect(decodeLifeNote(encodeLifeNote(note))).toEqual(note)
  })

  it.each([
    ['no JSON', '{'],
    ['null', 'null'],
    ['a number', '1'],
    ['no handlers', '{"life":1}'],
    ['an empty list of handlers', '{"life":1,"handlers":[]}'],
    ['a handler that is no text', '{"life":1,"handlers":[1]}'],
    ['a handler beside one that is no text', '{"life":1,"handlers":["a/b",1]}'],
    ['a list of handlers that is text', '{"life":1,"handlers":"a/b"}'],
    ['a negative life', '{"life":-1,"handlers":["a/b"]}'],
    ['a life after which no other can come', `{"life":${Number.MAX_SAFE_INTEGER},"handlers":["a/b"]}`],
  ])('is none: %s', (_, text) => {
    expect(decodeLifeNote(text)).toBeUndefined()
  })

  it('holds no more than a life and handlers where it is no dead letter, or says what cannot be', () => {
    const plain = { life: 0, handlers: ['a/b'] }
    expect(Object.keys(decodeLifeNote(JSON.stringify(plain)) ?? {})).toEqual(['life', 'handlers'])
    expect(decodeLifeNote(JSON.stringify({ ...plain, attempts: 'many', reason: 7 }))).toStrictEqual(plain)
  })

  it('may name 100 handlers, each by a name that a ledger can have', () => {
    const naming = (...handlers: readonly string[]) => isPossibleNote({ life: 0, handlers })
    const hundred = Array.from({ length: 100 }, (_, n) => `shop/${n}`)
    expect(naming(...hundred)).toBe(true)
    expect(naming(...hundred, 'shop/more')).toBe(false)
    expect(naming('a'.repeat(129))).toBe(true)
    for (const odd of ['a'.repeat(130), 'ab', 'sh op/a', 'shop/ü', '']) expect(naming('shop/a', odd)).toBe(false)
  })
})
