import { describe, expect, it } from 'vitest'
import { createConsumer } from '../../src/consumer/consumer.ts'
import { on } from '../../src/consumer/handler.ts'
import { processOnce } from '../../src/consumer/process-once.ts'
import { consoleLogger, type Logger, type Telemetry, unfailing } from '../../src/telemetry.ts'
import { createConsumerKit } from '../support/consumer-kit.ts'
import { fail, SECRET, THROWN, textOf } from './hostile-things.ts'

const EVENTS = [
  { group: 'a', n: 1 },
  { group: 'a', n: 2 },
  { group: 'b', n: 3 },
]

const throwing: Logger & Telemetry = { info: fail, warn: fail, error: fail, count: fail }
const rejecting = Object.fromEntries(
  Object.keys(throwing).map((name) => [name, () => Promise.reject(new Error(SECRET))]),
) as unknown as Logger & Telemetry

function failing() {
  const handled: number[] = []
  const note = on('order.placed', 'note', ({ sequence = 0 }, { logger, attempt }) => {
    logger.warn('about to fail', { attempt })
    if (attempt === 1) throw new Error('the first time')
    handled.push(sequence)
  })
  return { handled, handlers: [note] }
}

describe('a consumer', () => {
  it.each([
    ['that throw', throwing],
    ['that reject later, against their type', rejecting],
  ])('does its work without loggers and counts %s', async (_, broken) => {
    const { handled, handlers } = failing()
    const kit = createConsumerKit({ handlers, consumer: { logger: broken, telemetry: broken } })
    await kit.send(...EVENTS)
    await kit.drain()
    expect({ handled, left: kit.left(), dead: kit.deadLetters() }).toEqual({ handled: [1, 3, 2], left: 0, dead: [] })
  })

  it.each(['setVisibility', 'deadLetter'] as const)(
    'outlives a queue whose %s throws, against its promise',
    async (method) => {
      const { handled, handlers } = failing()
      const poison = on('poison', 'die', fail, { maxAttempts: 1 })
      const kit = createConsumerKit({ handlers: [...handlers, poison] })
      const queue = { ...kit.options.queue, [method]: fail }
      const broken = kit.consumerWith({ queue })
      await kit.send({ group: 'p', n: 9, type: 'poison' }, ...EVENTS)
      for (let minute = 0; minute < 60; minute++) {
        await kit.invoke(10, broken)
        await kit.clock.advance(60_000)
      }
      expect(handled).toEqual([1, 3, 2])
      await kit.drain()
      expect(kit.deadLetters()).toMatchObject([{ note: { handlers: ['shop/die'] } }])
      expect(kit.left()).toBe(0)
      expect(textOf(kit.lines)).not.toContain(SECRET)
    },
  )

  it.each(['claim', 'complete', 'fail', 'bury'] as const)(
    'keeps a message alone whose %s throws, against its promise, and loses none',
    async (method) => {
      const { handled, handlers } = failing()
      const poison = on('poison', 'die', fail, { maxAttempts: 1 })
      const kit = createConsumerKit({ handlers: [...handlers, poison] })
      const ledger = { ...kit.ledger }
      const isPoisoned = ({ name }: { readonly name: string }) => name === 'shop/die' || method === 'complete'
      Object.assign(ledger, {
        [method]: (given: { readonly name: string }, ...rest: never[]) =>
          isPoisoned(given) ? fail() : (kit.ledger[method] as (...all: unknown[]) => unknown)(given, ...rest),
      })
      const broken = kit.consumerWith({ ledger })
      await kit.send({ group: 'p', n: 9, type: 'poison' }, ...EVENTS)
      const { kept } = await kit.invoke(10, broken)
      expect(kept).toBeGreaterThanOrEqual(1)
      await kit.drain()
      expect(new Set(handled)).toEqual(new Set([1, 2, 3]))
      expect(kit.deadLetters()).toMatchObject([{ note: { handlers: ['shop/die'] } }])
      expect(kit.left()).toBe(0)
      expect(textOf(kit.lines)).not.toContain(SECRET)
    },
  )

  it.each(THROWN)(
    'takes a commit that throws %s for one that failed, and never for one that landed',
    async (_, make) => {
      const outbox = {
        kind: 'documentClient' as const,
        commit: async () => {
          throw make()
        },
      }
      const swallow = on('order.placed', 'note', (_event, { commit }) => commit([]).catch(() => {}), { maxAttempts: 2 })
      const kit = createConsumerKit({ handlers: [swallow] })
      const consumer = createConsumer({ ...kit.options, outbox })
      await kit.send({ group: 'a', n: 1 })
      await kit.invoke(1, consumer)
      expect(kit.row({ group: 'a', n: 1 }, 'note')?.status).toBe('failed')
      expect(textOf(kit.lines)).not.toContain(SECRET)
    },
  )

  it('asks for the visibility of a large batch a few requests at a time', async () => {
    let running = 0
    let most = 0
    const kit = createConsumerKit({
      handlers: [on('order.placed', 'note', () => {})],
      sqs: { queueName: 'queue' },
      consumer: {
        queue: {
          setVisibility: async (_, entries) => {
            most = Math.max(most, ++running)
            await new Promise((resolve) => setImmediate(resolve))
            running -= 1
            return entries.map(() => 'changed')
          },
          deadLetter: async () => ({ status: 'sent' }),
        },
      },
    })
    await kit.send(...Array.from({ length: 1000 }, (_, n) => ({ n })))
    expect((await kit.invoke(1000)).kept).toBe(0)
    expect(most).toBe(10)
  })
})

describe('processOnce', () => {
  it.each(THROWN)('answers "later" for a function that throws %s', async (_, make) => {
    const kit = createConsumerKit({ handlers: [on('order.placed', 'note', () => {})] })
    const { ledger, clock } = kit
    const options = { consumer: 'mail', handler: 'send', eventId: 'e', clock, logger: throwing, telemetry: throwing }
    const outcome = await processOnce(ledger, options, () => {
      throw make()
    })
    expect(outcome).toMatchObject({ status: 'later', due: clock.now() + 5000 })
  })
})

describe('the console logger', () => {
  it('writes the line without its fields where they cannot be written', () => {
    const written: string[] = []
    const { warn } = console
    console.warn = (line: string) => void written.push(line)
    try {
      const cycle: Record<string, unknown> = {}
      cycle['self'] = cycle
      for (const fields of [
        { big: 1n },
        cycle,
        { toJSON: fail },
        Object.defineProperty({}, 'x', { get: fail, enumerable: true }),
      ])
        consoleLogger.warn('a line', fields as Record<string, unknown>)
    } finally {
      console.warn = warn
    }
    expect(written.map((line) => JSON.parse(line))).toEqual(
      Array(4).fill({ level: 'WARN', message: 'a line', fields: 'cannot be written as JSON' }),
    )
  })
})

describe('unfailing', () => {
  it('passes lines and counts on as they are', () => {
    const seen: unknown[] = []
    const note = (...given: unknown[]) => void seen.push(given)
    const { logger, telemetry } = unfailing({
      logger: { info: note, warn: note, error: note },
      telemetry: { count: note },
    })
    logger.info('a', { n: 1 })
    telemetry.count('handled', 3)
    expect(seen).toEqual([
      ['a', { n: 1 }],
      ['handled', 3],
    ])
  })
})
