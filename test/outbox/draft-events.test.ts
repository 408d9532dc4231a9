import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { defineEvent } from '../../src/event/define-event.ts'
import { draftEvents } from '../../src/outbox/draft-events.ts'
import { autoGroups, numberEvents } from '../../src/outbox/number-events.ts'
import { proves } from '../cases.ts'

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const placed = { source: 'shop', type: 'order.placed' }

describe('draftEvents', () => {
  it('merges equal twins, whatever the order of their members', proves('two-actions-one-item'), async () => {
    const events = [
      { ...placed, key: 'a', data: { x: 1, y: 2 } },
      { ...placed, key: 'b', data: null },
      { ...placed, key: 'a', data: { y: 2, x: 1 } },
    ]
    const drafted = await draftEvents(events, undefined)
    expect(drafted?.drafts.map(({ identity }) => identity)).toEqual([
      { source: 'shop', key: 'a' },
      { source: 'shop', key: 'b' },
    ])
    expect(drafted?.places).toEqual([
      { draft: 0, twin: false },
      { draft: 1, twin: false },
      { draft: 0, twin: true },
    ])
  })

  it('sees differing twins, ordered ones too', proves('two-actions-one-item'), async () => {
    const keyed = [
      { ...placed, key: 'a', data: 1 },
      { ...placed, key: 'a', data: 2 },
    ]
    const ordered = [
      { ...placed, group: 'g', sequence: 1, data: 1 },
      { ...placed, type: 'other', group: 'g', sequence: 1, data: 1 },
    ]
    expect(await draftEvents(keyed, undefined)).toBeUndefined()
    expect(await draftEvents(ordered, undefined)).toBeUndefined()
  })

  it('never takes auto events for twins', async () => {
    const auto = { ...placed, group: 'g', sequence: 'auto' as const, data: 1 }
    expect((await draftEvents([auto, auto], undefined))?.drafts).toHaveLength(2)
  })

  it('refuses given and auto numbers in one group, and takes them in two', async () => {
    const auto = { ...placed, group: 'g', sequence: 'auto' as const, data: 1 }
    for (const mixed of [
      [auto, { ...auto, sequence: 1 }],
      [{ ...auto, group: 'h' }, { ...auto, sequence: 1 }, auto],
    ]) {
      await expect(draftEvents(mixed, undefined)).rejects.toMatchObject({
        code: 'INVALID_EVENT',
        message: 'events must not mix "auto" and given numbers in one group; number all of them one way.',
      })
    }
    await expect(draftEvents([auto, { ...auto, source: 'store', sequence: 1 }], undefined)).resolves.toBeDefined()
    await expect(
      draftEvents(
        [
          { ...auto, sequence: 1 },
          { ...auto, sequence: 2 },
        ],
        undefined,
      ),
    ).resolves.toBeDefined()
    await expect(draftEvents([auto, { ...auto, group: 'h', sequence: 1 }], undefined)).resolves.toBeDefined()
  })

  it('adds the trace, unless the event has one or it is no trace', async () => {
    const events = [
      { ...placed, key: 'a', data: 1 },
      { ...placed, key: 'b', data: 1, headers: { traceparent: 'mine' } },
    ]
    const headers = async (trace: string | undefined) =>
      (await draftEvents(events, trace))?.drafts.map((d) => d.event.headers)
    expect(await headers(TRACE)).toEqual([{ traceparent: TRACE }, { traceparent: 'mine' }])
    for (const odd of ['nonsense', ` ${TRACE}`, TRACE.slice(0, -1), `${TRACE}\n`, TRACE.toUpperCase(), 7 as never]) {
      expect(await headers(odd)).toEqual([{}, { traceparent: 'mine' }])
    }
    expect(await headers(`${TRACE}-of-a-later-version`)).toMatchObject([
      { traceparent: `${TRACE}-of-a-later-version` },
      {},
    ])
    expect(await headers(undefined)).toEqual([{}, { traceparent: 'mine' }])
  })

  it('refuses data that does not fit its schema, with the path', async () => {
    const Placed = defineEvent({ type: 'order.placed', schema: v.object({ at: v.string(), n: v.number() }) })
    const good = Placed.create({ source: 'shop', key: 'a', data: { at: 'x', n: 1 } })
    const bad = Placed.create({ source: 'shop', key: 'b', data: { at: 'x', n: 'secret' as never } })
    await expect(draftEvents([good, bad], undefined)).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      details: { path: 'events[1].data.n' },
      message: 'events[1].data.n does not fit the schema of its type (1 or more places).',
    })
    const unreadable = defineEvent({ type: 't', schema: v.never() })
    await expect(
      draftEvents([unreadable.create({ source: 's', key: 'k', data: 1 as never })], undefined),
    ).rejects.toMatchObject({ details: { path: 'events[0].data' } })
  })

  it('shows the schema the JSON value that the handler will get, and stores what was given', async () => {
    const Placed = defineEvent({
      type: 'order.placed',
      schema: v.object({ at: v.pipe(v.string(), v.transform(Number)) }),
    })
    const event = { ...Placed.create({ source: 'shop', key: 'a', data: { at: '' } }), data: { at: new Date(0) } }
    const drafted = await draftEvents([event], undefined)
    expect(drafted?.drafts[0]?.dataText).toBe('{"at":"1970-01-01T00:00:00.000Z"}')
  })
})

describe('numberEvents', () => {
  it('numbers the auto events of each group one after the other', async () => {
    const auto = (group: string) => ({ ...placed, group, sequence: 'auto' as const, data: 1 })
    const drafted = await draftEvents([auto('g'), auto('h'), { ...placed, key: 'k', data: 1 }, auto('g')], undefined)
    const drafts = drafted?.drafts ?? []
    expect(autoGroups(drafts).map(({ event }) => event.group)).toEqual(['g', 'h'])
    expect(
      numberEvents(
        drafts,
        new Map([
          ['shop/g', 7],
          ['shop/h', 1],
        ]),
      ),
    ).toEqual([
      { source: 'shop', group: 'g', sequence: 7 },
      { source: 'shop', group: 'h', sequence: 1 },
      { source: 'shop', key: 'k' },
      { source: 'shop', group: 'g', sequence: 8 },
    ])
  })

  it('refuses to count beyond what a number can hold', async () => {
    const drafted = await draftEvents([{ ...placed, group: 'g', sequence: 'auto', data: 1 }], undefined)
    const next = new Map([['shop/g', Number.MAX_SAFE_INTEGER + 1]])
    expect(() => numberEvents(drafted?.drafts ?? [], next)).toThrow(
      'events cannot be numbered: the group has used up its numbers (to 9007199254740991).',
    )
    expect(() => numberEvents(drafted?.drafts ?? [], new Map())).toThrow('used up its numbers')
  })
})
