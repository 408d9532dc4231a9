import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { eventId } from '../../src/event/identity.ts'
import type { ActOutcome } from '../../src/ops/act-on-dead-letters.ts'
import { listDeadLetters } from '../../src/ops/dead-letters.ts'
import { discard } from '../../src/ops/discard.ts'
import { redrive } from '../../src/ops/redrive.ts'
import { proves } from '../cases.ts'
import { identityOf } from '../support/consumer-kit.ts'
import { addFaults } from '../support/faults.ts'
import { deadAs, type Operated, openOperated } from '../support/operated.ts'
import { orderedRow, unorderedRow } from '../support/outbox-rows.ts'

const opened: Operated[] = []
let world: Operated
beforeEach(async () => {
  world = await openOperated()
  opened.push(world)
})
afterAll(() => Promise.all(opened.map(({ aws }) => aws.stop())))

const FULL = 'Error: mailbox 7 is full'
const STOCK = 'Error: no stock'
const idOf = (n: number) => eventId(identityOf({ n }))

/** Three causes: a full mailbox twice, no stock once, and a row that its destination refused. */
async function threeCauses() {
  await world.die({ n: 1 }, 'shop/mail', FULL)
  await world.die({ n: 2 }, 'shop/mail', 'Error: mailbox 8 is full')
  await world.die({ n: 3 }, 'shop/stock', STOCK)
  await world.putRow(deadAs(unorderedRow('k4', { source: 'test' }), 'InvalidMessageContents'))
}

describe('listDeadLetters', () => {
  it('shows rows and messages in one list, grouped by handler and kind of failure, and changes nothing', async () => {
    await threeCauses()
    const seen: number[] = []
    const { items, groups } = await listDeadLetters(world.system, { onProgress: (n) => seen.push(n) })
    expect(groups.map(({ handler, failure, count }) => [handler, failure, count])).toEqual([
      ['shop/mail', 'Error: mailbox # is full', 2],
      ['relay', 'InvalidMessageContents', 1],
      ['shop/stock', 'Error: no stock', 1],
    ])
    expect(items.map(({ where }) => where).sort()).toEqual(['message', 'message', 'message', 'row'])
    expect(items.find(({ handler }) => handler === 'shop/stock')).toMatchObject({
      id: idOf(3),
      type: 'order.placed',
      attempts: 8,
      reason: STOCK,
    })
    expect(seen.at(-1)).toBe(4)
    expect(world.depths()).toMatchObject({ deadLetters: { visible: 3, invisible: 0 }, queue: { visible: 0 } })
  })

  it('ends when it is told to, and shows again what it had hidden', async () => {
    await threeCauses()
    const { items } = await listDeadLetters(world.system, { signal: AbortSignal.abort() })
    expect(items).toEqual([])
    expect(world.depths().deadLetters).toMatchObject({ visible: 3, invisible: 0 })
  })
})

describe('redrive', () => {
  it(
    'moves one cause and leaves the others; who did it and why stands in the ledger',
    proves('operate-dead-letters'),
    async () => {
      await threeCauses()
      const outcomes: ActOutcome[] = []
      const summary = await redrive(world.system, {
        select: { handler: 'shop/mail', failure: 'is full' },
        by: 'ann',
        reason: 'quota raised',
        onOutcome: (outcome) => outcomes.push(outcome),
      })
      expect(summary).toEqual({ done: 2, kept: 0, planned: 0, left: 2, hidden: 0 })
      expect(outcomes.map(({ id, outcome }) => [id, outcome]).sort()).toEqual(
        [
          [idOf(1), 'done'],
          [idOf(2), 'done'],
        ].sort(),
      )
      expect(world.depths()).toMatchObject({ queue: { visible: 2 }, deadLetters: { visible: 1, invisible: 0 } })
      const act = { action: 'redrive', by: 'ann', reason: 'quota raised', at: expect.any(Number) }
      expect(await world.entry({ n: 1 }, 'shop/mail')).toMatchObject({ status: 'dead', history: [act] })
      expect((await world.entry({ n: 3 }, 'shop/stock'))?.['history']).toBeUndefined()
      expect(await world.row({ source: 'test', key: 'k4' })).toMatchObject({ failure: 'InvalidMessageContents' })
    },
  )

  it('makes dead rows pending again as their next round, the act on record', async () => {
    await world.putRow(deadAs(orderedRow('g', 2, { redrives: 1, accepted: ['one'] }), 'no'))
    await world.putRow(deadAs(orderedRow('g', 1), 'no'))
    await world.putRow(deadAs(orderedRow('g', 3), 'refused'))
    const order: string[] = []
    const summary = await redrive(world.system, {
      select: { handler: 'relay', failure: 'no' },
      by: 'ann',
      onOutcome: ({ id }) => order.push(id),
    })
    expect(summary).toEqual({ done: 2, kept: 0, planned: 0, left: 1, hidden: 0 })
    expect(order).toEqual([1, 2].map((sequence) => eventId({ source: 'shop', group: 'g', sequence })))
    expect(await world.row({ source: 'shop', group: 'g', sequence: 2 })).toMatchObject({
      shard: expect.stringMatching(/^p#/),
      redrives: 2,
      accepted: new Set(['one']),
      history: [{ action: 'redrive', by: 'ann' }],
    })
    expect(await world.row({ source: 'shop', group: 'g', sequence: 3 })).toMatchObject({
      shard: expect.stringMatching(/^d#/),
    })
  })

  it('a dry run says what it would do and changes nothing', async () => {
    await threeCauses()
    const before = world.depths()
    const outcomes: string[] = []
    const summary = await redrive(world.system, {
      select: { all: true },
      by: 'ann',
      dryRun: true,
      onOutcome: ({ outcome }) => outcomes.push(outcome),
    })
    expect(summary).toEqual({ done: 0, kept: 0, planned: 4, left: 0, hidden: 0 })
    expect(outcomes).toEqual(['planned', 'planned', 'planned', 'planned'])
    expect(world.depths()).toEqual(before)
    expect((await world.entry({ n: 1 }, 'shop/mail'))?.['history']).toBeUndefined()
    expect(await world.row({ source: 'test', key: 'k4' })).not.toHaveProperty('redrives')
  })

  it('moves what is named by id, row or message', async () => {
    await threeCauses()
    const ids = [idOf(3), eventId({ source: 'test', key: 'k4' })]
    expect(await redrive(world.system, { select: { ids }, by: 'ann' })).toMatchObject({ done: 2, left: 2 })
    expect((await world.row({ source: 'test', key: 'k4' }))?.['redrives']).toBe(1)
    expect(world.arrived()).toHaveLength(1)
  })

  it('two operators at once move each thing once', async () => {
    for (let n = 1; n <= 20; n += 1) await world.putRow(deadAs(unorderedRow(`k${n}`), 'no'))
    const both = await Promise.all(['ann', 'bob'].map((by) => redrive(world.system, { select: { all: true }, by })))
    expect(both.reduce((sum, { done }) => sum + done, 0)).toBe(20)
    for (let n = 1; n <= 20; n += 1)
      expect(await world.row({ source: 'shop', key: `k${n}` })).toMatchObject({ redrives: 1 })
  })

  it('refuses a selection of nothing, no name, and what it does not know, before anything is done', async () => {
    await threeCauses()
    const wrong = [
      { select: {}, by: 'ann' },
      { select: { ids: [] }, by: 'ann' },
      { select: { handler: '' }, by: 'ann' },
      { select: { all: false }, by: 'ann' },
      { select: { all: true }, by: '' },
      { select: { all: true }, by: 'ann\n' },
      { select: { all: true }, by: 'ann', reason: '' },
      { select: { all: true }, by: 'ann', force: true },
    ]
    for (const options of wrong)
      await expect(redrive(world.system, options as never)).rejects.toMatchObject({ code: 'INVALID_SETTING' })
    expect(world.depths()).toMatchObject({ queue: { visible: 0 }, deadLetters: { visible: 3 } })
  })
})

describe('discard', () => {
  it('gives a row up as relayed, which keeps why it was dead and expires', proves('operate-dead-letters'), async () => {
    await threeCauses()
    const sqs = addFaults(world.system.sqs)
    const summary = await discard(world.system, { select: { handler: 'relay' }, by: 'ann', reason: 'test order' })
    expect(summary).toEqual({ done: 1, kept: 0, planned: 0, left: 0, hidden: 0 })
    expect(sqs.calls, 'messages, which nobody asked for, are not even looked at').toEqual([])
    const row = await world.row({ source: 'test', key: 'k4' })
    expect(row).toMatchObject({
      failure: 'InvalidMessageContents',
      expires: expect.any(Number),
      history: [{ action: 'discard', by: 'ann', reason: 'test order' }],
    })
    expect(row).not.toHaveProperty('shard')
    expect(row).not.toHaveProperty('due')
  })

  it('deletes a message once the ledger says who gave it up and why', async () => {
    await threeCauses()
    await discard(world.system, { select: { handler: 'shop/stock' }, by: 'ann', reason: 'sold out for good' })
    expect(world.depths()).toMatchObject({ queue: { visible: 0 }, deadLetters: { visible: 2, invisible: 0 } })
    expect(await world.entry({ n: 3 }, 'shop/stock')).toMatchObject({
      status: 'dead',
      failure: STOCK,
      history: [{ action: 'discard', by: 'ann', reason: 'sold out for good' }],
    })
  })

  it('refuses to do so without a reason', async () => {
    const options = { select: { all: true }, by: 'ann' }
    await expect(discard(world.system, options as never)).rejects.toMatchObject({ code: 'INVALID_SETTING' })
  })
})
