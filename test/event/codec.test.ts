import { CloudEvent, HTTP } from 'cloudevents'
import { describe, expect, it } from 'vitest'
import { decodeBody, encodeBody } from '../../src/event/codec.ts'
import { eventId } from '../../src/event/identity.ts'
import { decodeSource, encodeSource } from '../../src/event/source-uri.ts'
import { proves } from '../cases.ts'

const parts = {
  identity: { source: 'shop', group: 'order-7', sequence: 42 },
  type: 'order.placed',
  time: '2026-01-31T12:00:00.000Z',
  dataText: '{"total":1}',
  headers: { tenant: 'a', traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
  life: 1_769_860_800_000,
}

/** Every printable ASCII character that a source may hold. */
const PUNCTUATION = Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n)).filter((c) => c !== '/')

describe('encodeBody', () => {
  it('is a CloudEvent that the SDK of CloudEvents reads and finds valid', () => {
    const event = HTTP.toEvent({ headers: { 'content-type': 'application/cloudevents+json' }, body: encodeBody(parts) })
    if (Array.isArray(event) || !(event instanceof CloudEvent)) throw new Error('one event expected')
    expect(event.validate()).toBe(true)
    expect(event.toJSON()).toMatchObject({
      specversion: '1.0',
      id: eventId(parts.identity),
      source: 'shop',
      type: 'order.placed',
      subject: 'order-7 42',
      time: '2026-01-31T12:00:00.000Z',
      datacontenttype: 'application/json',
      sequence: '0000000000000042',
      partitionkey: 'order-7',
      life: '1769860800000',
      tenant: 'a',
      traceparent: parts.headers.traceparent,
      data: { total: 1 },
    })
  })

  it.each(['null', '{}', '""', '0', 'false', '[]', '[null]'])(
    'is valid with data %s',
    proves('empty-payload'),
    (dataText) => {
      const body = encodeBody({ ...parts, dataText })
      const event = HTTP.toEvent({ headers: { 'content-type': 'application/cloudevents+json' }, body })
      expect(event).toMatchObject({ specversion: '1.0', type: 'order.placed' })
      expect(decodeBody(body)).toMatchObject({ ok: true, own: true, event: { data: JSON.parse(dataText) } })
    },
  )

  it('keeps any source a valid URI reference for that SDK', () => {
    for (const source of [
      ...PUNCTUATION,
      ...PUNCTUATION.map((c) => `a${c}b:${c}`),
      '1:2',
      '1a:b',
      'urn:x',
      '#a#b',
      '%41',
      'a%zz',
    ]) {
      const identity = { source, key: 'k' }
      const body = encodeBody({ ...parts, identity })
      expect(() => new CloudEvent(JSON.parse(body)).validate()).not.toThrow()
      expect(decodeBody(body)).toMatchObject({ ok: true, own: true, event: { source, key: 'k' } })
    }
  })

  it('holds only characters that SQS takes', proves('odd-characters'), () => {
    const data = `${Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join('')}😀\u{10FFFF}\u{1FFFE}`
    const body = encodeBody({ ...parts, dataText: JSON.stringify({ [data]: data }) })
    expect(body).toMatch(/^[\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]*$/u)
    expect(decodeBody(body)).toMatchObject({ ok: true, event: { data: { [data]: data } } })
  })
})

describe('encodeSource', () => {
  it('leaves ordinary names as they are', () => {
    for (const source of ['shop', 'tenant-42', 'urn:shop:eu', 'a.b_c~d', 'x@y'])
      expect(encodeSource(source)).toBe(source)
  })

  it('gives every source a form of its own', () => {
    const sources = PUNCTUATION.flatMap((c) => [c, `a${c}`, `${c}:`, `a:${c}`, `%${c}`, `%2${c}`])
    expect(sources.map((source) => decodeSource(encodeSource(source)))).toEqual(sources)
  })
})

describe('decodeBody', () => {
  it('gives back every field of an ordered and of an unordered event', () => {
    const { identity, ...rest } = parts
    const common = { type: rest.type, time: rest.time, data: { total: 1 }, headers: rest.headers, life: rest.life }
    expect(decodeBody(encodeBody(parts))).toEqual({
      ok: true,
      own: true,
      event: { ...common, ...identity, id: eventId(identity), key: 'order-7 42' },
    })
    const unordered = { source: 'shop', key: 'o-1' }
    expect(decodeBody(encodeBody({ ...parts, identity: unordered }))).toEqual({
      ok: true,
      own: true,
      event: { ...common, ...unordered, id: eventId(unordered) },
    })
  })

  const LACKS = 'the event lacks an id, source or type'
  it.each([
    ['', 'the body is not JSON'],
    ['x', 'the body is not JSON'],
    ['1', 'the body is not a JSON object'],
    ['null', 'the body is not a JSON object'],
    ['[]', 'the body is not a JSON object'],
    ['"a"', 'the body is not a JSON object'],
    ['{}', 'the body is not a CloudEvents 1.0 event'],
    ['{"specversion":"0.3"}', 'the body is not a CloudEvents 1.0 event'],
    ['{"specversion":"1.0","id":"1"}', LACKS],
    ['{"specversion":"1.0","source":"s","type":"t"}', LACKS],
    ['{"specversion":"1.0","id":"1","type":"t"}', LACKS],
    ['{"specversion":"1.0","id":"1","source":"s"}', LACKS],
    ['{"specversion":"1.0","id":"","source":"s","type":"t"}', LACKS],
    ['{"specversion":"1.0","id":1,"source":"s","type":"t"}', LACKS],
  ])('gives a reason for %j and never throws', proves('undecodable-row'), (text, reason) => {
    expect(decodeBody(text)).toEqual({ ok: false, reason })
  })

  it('reads a CloudEvent of another writer as foreign', () => {
    const foreign = { specversion: '1.0', id: '1', source: '/a%20b', type: 't', priority: 1, sequence: 'x' }
    expect(decodeBody(JSON.stringify(foreign))).toEqual({
      ok: true,
      own: false,
      event: {
        id: '1',
        source: '/a%20b',
        type: 't',
        key: '1',
        time: '',
        data: null,
        headers: { priority: '1', sequence: 'x' },
        life: 0,
      },
    })
  })

  it('takes what another writer calls the subject for the key, and every extension for a header', () => {
    const standard = { datacontenttype: 'text/plain', dataschema: 'https://example.org/s', data_base64: 'eA==' }
    const foreign = { specversion: '1.0', id: '1', source: 's', type: 't', subject: 'k', time: 'then', data: [1] }
    const extensions = { word: 'a', count: 1, good: true, partitionkey: 'p', life: '9', odd: {}, none: null }
    expect(decodeBody(JSON.stringify({ ...foreign, ...standard, ...extensions }))).toEqual({
      ok: true,
      own: false,
      event: {
        id: '1',
        source: 's',
        type: 't',
        key: 'k',
        time: 'then',
        data: [1],
        headers: { word: 'a', count: '1', good: 'true', partitionkey: 'p', life: '9' },
        life: 0,
      },
    })
  })

  it('never takes our own extensions for headers of an own event, whichever of them it has', () => {
    const identity = { source: 'shop', key: 'o-1' }
    const body = JSON.parse(encodeBody({ ...parts, identity }))
    for (const change of [{ partitionkey: 'g' }, { sequence: '7' }]) {
      expect(decodeBody(JSON.stringify({ ...body, ...change }))).toMatchObject({
        own: true,
        event: { headers: parts.headers, key: 'o-1' },
      })
    }
    expect(decodeBody(JSON.stringify({ ...body, life: '999999999999999' }))).toMatchObject({
      own: true,
      event: { life: 999_999_999_999_999 },
    })
  })

  it.each([
    ['another id', { id: '0'.repeat(64) }],
    ['another subject', { subject: 'order-7 43' }],
    ['another group', { partitionkey: 'order-8' }],
    ['another sequence', { sequence: '0000000000000043' }],
    ['no life', { life: undefined }],
    ['a life that is no number', { life: 'soon' }],
    ['a life that is no text', { life: 1 }],
    ['a life with a letter in front', { life: 'a1' }],
    ['a life with a letter at its end', { life: '1a' }],
    ['no subject', { subject: undefined }],
    ['a source in another spelling', { source: '%73hop' }],
    ['a life after which no other can come', { life: '9999999999999999' }],
  ])('takes a body with %s for foreign: the id proves the rest', (_, change) => {
    const body = JSON.stringify({ ...JSON.parse(encodeBody(parts)), ...change })
    expect(decodeBody(body)).toMatchObject({ ok: true, own: false, event: { life: 0 } })
  })
})
