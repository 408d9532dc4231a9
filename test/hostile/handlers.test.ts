import { describe, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import type { HandlerContext } from '../../src/consumer/handler-context.ts'
import { defineEvent } from '../../src/event/define-event.ts'
import type { Event } from '../../src/event/event.ts'
import type { StandardSchema } from '../../src/event/standard-schema.ts'
import { createConsumerKit } from '../support/consumer-kit.ts'
import { fail, SECRET, THROWN, textOf, thenable, untouchable } from './hostile-things.ts'

const POISON = { group: 'a', n: 1, data: { card: SECRET } }
const FOLLOWER = { group: 'a', n: 2 }
const NEIGHBOUR = { group: 'b', n: 3 }
const OTHERS = new Set([FOLLOWER.n, NEIGHBOUR.n])
const MAX_ATTEMPTS = 3

/** A poison event, a later one of its group, and one of another group, with a handler that misbehaves for the first. */
function poisoned(misbehave: (event: Event, context: HandlerContext) => unknown) {
  const handled: number[] = []
  let tries = 0
  const handle = (event: Event, context: HandlerContext) => {
    const { sequence = 0 } = event
    if (sequence === POISON.n) {
      tries += 1
      return misbehave(event, context)
    }
    return handled.push(sequence)
  }
  const kit = createConsumerKit({ handlers: [on('order.placed', 'note', handle, { maxAttempts: MAX_ATTEMPTS })] })
  return { kit, handled, tries: () => tries }
}

async function drained(misbehave: (event: Event, context: HandlerContext) => unknown) {
  const world = poisoned(misbehave)
  await world.kit.send(POISON, FOLLOWER, NEIGHBOUR)
  await world.kit.drain()
  expect(world.kit.left()).toBe(0)
  expect(textOf(world.kit.lines)).not.toContain(SECRET)
  return world
}

/** Dead-lettered alone after its attempts; the others handled once, the follower after it. */
async function diesAlone(misbehave: (event: Event, context: HandlerContext) => unknown) {
  const { kit, handled, tries } = await drained(misbehave)
  expect(handled).toEqual([NEIGHBOUR.n, FOLLOWER.n])
  expect(tries()).toBe(MAX_ATTEMPTS)
  const [letter, ...more] = kit.deadLetters()
  expect(more).toEqual([])
  expect(letter?.note).toMatchObject({ handlers: ['shop/note'], attempts: MAX_ATTEMPTS })
  const { reason = '' } = letter?.note ?? {}
  expect(reason).toMatch(/^\P{Cc}+$/u)
  expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(512)
  return kit
}

describe('a handler', () => {
  it.each(THROWN)('that throws %s is dead-lettered alone', async (_, make) => {
    await diesAlone(() => {
      throw make()
    })
  })

  it.each(THROWN)('that rejects with %s is dead-lettered alone', async (_, make) => {
    await diesAlone(async () => {
      throw make()
    })
  })

  it('that throws an imitation of our errors is judged by its code and dies alone, whatever the rest of it is', async () => {
    const imitation = { name: 'OutboxError', code: 'PERMANENT', message: { toString: () => 'no' } }
    const { kit, handled, tries } = await drained(() => {
      throw imitation
    })
    expect({ handled: new Set(handled), tries: tries() }).toEqual({ handled: OTHERS, tries: 1 })
    expect(kit.deadLetters()).toMatchObject([{ note: { reason: 'no' } }])
  })

  it.each<[title: string, value: unknown]>([
    ['a function', () => {}],
    ['a symbol', Symbol('x')],
    ['a batch response', { batchItemFailures: [{ itemIdentifier: '' }] }],
    ['a frozen object', Object.freeze({})],
    ['a thenable that resolves', thenable((ok) => ok(SECRET))],
    ['a thenable that settles twice', thenable((ok, no) => [ok(), no(SECRET)])],
    ['a thenable that throws after it has settled', thenable((ok) => [ok(), fail()])],
  ])('that returns %s is done', async (_, value) => {
    const { handled, tries, kit } = await drained(() => value)
    expect({ handled: new Set(handled), tries: tries(), dead: kit.deadLetters() }).toEqual({
      handled: OTHERS,
      tries: 1,
      dead: [],
    })
  })

  it.each<[title: string, make: () => unknown]>([
    ['a thenable that rejects', () => thenable((_, no) => no(SECRET))],
    ['a thenable whose then cannot be read', () => Object.defineProperty({}, 'then', { get: fail })],
    ['a promise that rejects with a thenable', () => Promise.reject(thenable(() => {}))],
    ['what cannot be touched', untouchable],
  ])('that returns %s has failed', async (_, make) => {
    await diesAlone(make)
  })

  it('that spoils its event and its context spoils them for nobody else', async () => {
    const seen: unknown[] = []
    const spoil = (event: Event, context: HandlerContext) => {
      const data = event.data as Record<string, unknown>
      for (const key of Object.keys(data)) delete data[key]
      data['n'] = 'spoiled'
      Object.assign(event.headers, { spoiled: 'yes' })
      for (const given of [event, context] as Record<string, unknown>[])
        for (const key of Object.keys(given)) delete given[key]
    }
    const kit = createConsumerKit({
      handlers: [
        on('order.placed', 'spoil', spoil),
        on('order.placed', 'look', (event, context) => {
          seen.push([event.data, event.headers, event.sequence, context.attempt, context.idempotencyKey.length])
        }),
      ],
    })
    await kit.send(FOLLOWER)
    await kit.drain()
    expect(seen).toEqual([[{ n: FOLLOWER.n }, {}, FOLLOWER.n, 1, 64]])
    expect(kit.left()).toBe(0)
  })

  it('that commits nonsense has failed, and nothing of it is called a commit', async () => {
    for (const items of [null, 'text', 5, {}, [null]]) {
      const kit = await diesAlone((_, { commit }) => (commit as (...given: unknown[]) => unknown)(items, null))
      expect(kit.committer.requests).toEqual([])
    }
  })

  it('that never settles is not answered for, until it does', async () => {
    let end = () => {}
    const { kit, handled } = poisoned(() => new Promise<void>((resolve) => (end = resolve)))
    await kit.send(POISON, FOLLOWER, NEIGHBOUR)
    let answered = false
    const answer = kit.invoke().finally(() => (answered = true))
    await kit.pass(60_000)
    expect({ answered, handled }).toEqual({ answered: false, handled: [NEIGHBOUR.n] })
    end()
    expect((await answer).keptIds.length).toBeLessThanOrEqual(2)
    await kit.drain()
    expect(kit.left()).toBe(0)
  })

  it('that logs what cannot be written goes on', async () => {
    const { handled, kit } = await drained((_, { logger }) => {
      logger.info('odd', { big: 1n })
      logger.warn('odd', undefined as never)
    })
    expect(new Set(handled)).toEqual(OTHERS)
    expect(kit.deadLetters()).toEqual([])
  })
})

describe('a schema', () => {
  const broken = (validate: (value: unknown) => unknown): StandardSchema =>
    ({ '~standard': { version: 1, vendor: 'test', validate } }) as StandardSchema

  it.each<[title: string, validate: (value: unknown) => unknown]>([
    ...THROWN.map(([title, make]): [string, () => never] => [
      `throws ${title}`,
      () => {
        throw make()
      },
    ]),
    ['answers nothing', () => undefined],
    ['answers null', () => null],
    ['finds no issue and no value', () => ({ issues: [] })],
    ['finds issues that are null', () => ({ issues: [null] })],
    ['finds issues at odd paths', () => ({ issues: [{ message: SECRET, path: [null, Symbol('x'), { key: 1 }, ''] }] })],
    ['spoils the data and rejects', (value) => Promise.reject(Object.assign(value as object, { n: 0 }))],
  ])('that %s dead-letters its event alone', async (_, validate) => {
    const Strange = defineEvent({ type: 'strange', schema: broken(validate) })
    const handled: unknown[] = []
    const kit = createConsumerKit({
      handlers: [
        on(Strange, 'validated', () => {}, { maxAttempts: 2 }),
        on('strange', 'plain', (event) => void handled.push(event.data)),
        on('order.placed', 'note', (event) => void handled.push(event.sequence)),
      ],
    })
    await kit.send({ ...POISON, type: 'strange', data: { n: 7 } }, FOLLOWER, NEIGHBOUR)
    await kit.drain()
    expect(handled).toContainEqual({ n: 7 })
    expect(handled).toEqual(expect.arrayContaining([FOLLOWER.n, NEIGHBOUR.n]))
    expect(handled).toHaveLength(3)
    expect(kit.deadLetters()).toMatchObject([{ note: { handlers: ['shop/validated'] } }])
    expect(textOf(kit.lines)).not.toContain(SECRET)
    expect(kit.left()).toBe(0)
  })
})
