import fc from 'fast-check'
import type { Identity } from '../../src/event/identity.ts'

const ascii = (pattern: RegExp) =>
  fc.string({ unit: fc.constantFrom(...printable(pattern)), minLength: 1, maxLength: 128 })

function printable(pattern: RegExp): string[] {
  return Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)).filter((character) =>
    pattern.test(character),
  )
}

const name = ascii(/[!-~]/)
const source = ascii(/[!-.0-~]/)
/** Any UTF-16 text at all: lone surrogates, noncharacters, control characters. */
export const anyText = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
  maxLength: 20,
})
/** Any JSON value, with any character in it. */
export const json = fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' })
/** JSON values, and objects with any UTF-16 text as names. */
export const data = fc.oneof(json, anyText, fc.dictionary(anyText, fc.oneof(anyText, json)))
const headerName = fc
  .string({ unit: fc.constantFrom(...printable(/[a-z0-9]/)), minLength: 1, maxLength: 20 })
  .filter(
    (text) =>
      ![
        'id',
        'source',
        'type',
        'subject',
        'time',
        'data',
        'sequence',
        'life',
        'partitionkey',
        'specversion',
        'datacontenttype',
        'dataschema',
      ].includes(text),
  )
const headerValue = fc
  .string({ unit: 'binary', maxLength: 30 })
  .filter((text) => text.isWellFormed() && !/[\p{Cc}\p{Noncharacter_Code_Point}]/u.test(text))
const identity: fc.Arbitrary<Identity> = fc.oneof(
  fc.record({ source, key: name }),
  fc.record({ source, group: name, sequence: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }) }),
)
const time = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
/** An event with any identity, type, data, headers and time that the grammar allows. */
export const event = fc.record({
  identity,
  type: name,
  data,
  headers: fc.dictionary(headerName, headerValue, { maxKeys: 5 }),
  time: time.map((date) => date.toISOString()),
})
