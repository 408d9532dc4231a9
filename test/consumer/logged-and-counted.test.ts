import { describe, expect, it } from 'vitest'
import type { Handler, HandlerOptions } from '../../src/consumer/handler.ts'
import { on } from '../../src/consumer/handler.ts'
import type { HandlerContext } from '../../src/consumer/handler-context.ts'
import { OutboxError, permanentError } from '../../src/errors.ts'
import { eventId, sha256 } from '../../src/event/identity.ts'
import { createConsumerKit, type KitOptions, START } from '../support/consumer-kit.ts'

/** What whoever is called at night finds in metrics and log. */

const EVENT = { group: 'a', n: 1 } as const
const id = eventId({ source: 'test', group: 'a', sequence: 1 })

const handling = (act: (context: HandlerContext) => unknown, options?: HandlerOptions): Handler =>
  on('order.placed', 'reserve', (_, context) => act(context), options)

async function told(handler: Handler, more: Partial<KitOptions> = {}, prepare?: (kit: Kit) => void) {
  const kit = createConsumerKit({ handlers: [handler], ...more })
  prepare?.(kit)
  await kit.send(EVENT)
  const { kept } = await kit.invoke()
  return { counts: Object.fromEntries(kit.counts), lines: kit.lines, kept, kit }
}
type Kit = ReturnType<typeof createConsumerKit>

const at = { eventId: id, handler: 'shop/reserve' }

describe('metrics and log tell', () => {
  it('that an event was handled, and of a second copy that it was', async () => {
    const { counts, lines, kit } = await told(handling(() => {}))
    expect([counts, lines]).toEqual([{ handled: 1 }, []])
    await kit.send(EVENT)
    await kit.invoke()
    expect(Object.fromEntries(kit.counts)).toEqual({ handled: 1, duplicatesSuppressed: 1 })
  })

  it.each([
    [new TypeError('secret'), 'TypeError'],
    [new OutboxError('INVALID_TRANSACTION', 'secret'), 'INVALID_TRANSACTION'],
    ['secret', 'Error'],
  ])('that a handler failed, by the kind of its error alone: %s', async (thrown, error) => {
    const { counts, lines, kept } = await told(handling(() => Promise.reject(thrown)))
    expect(counts).toEqual({ failed: 1 })
    expect(lines).toEqual([{ level: 'warn', message: 'handler failed', fields: { ...at, attempt: 1, error } }])
    expect(kept).toBe(1)
  })

  it('that a commit was refused though the handler returned', async () => {
    const { counts, lines } = await told(
      handling(({ commit }) => void commit([], { event: 1 } as never).catch(() => {})),
    )
    expect(counts).toEqual({ failed: 1 })
    expect(lines).toMatchObject([{ message: 'handler failed', fields: { error: 'commit refused' } }])
  })

  it('that an event is in the dead-letter queue', async () => {
    const { counts, lines, kept } = await told(handling(() => Promise.reject(permanentError('no'))))
    expect(counts).toEqual({ failed: 1, deadLettered: 1 })
    expect(lines).toEqual([
      { level: 'warn', message: 'handler failed', fields: { ...at, attempt: 1, error: 'PERMANENT' } },
      { level: 'error', message: 'event dead-lettered', fields: { ...at, attempts: 8 } },
    ])
    expect(kept).toBe(0)
  })

  it('that the dead-letter queue takes nothing', async () => {
    let sends = 0
    const failRequest = (action: string) =>
      action === 'SendMessage' && ++sends > 1 ? { code: 'AccessDenied', message: '', senderFault: true } : undefined
    const doomed = handling(() => Promise.reject(new Error('x')), { maxAttempts: 1 })
    const { counts, lines, kit } = await told(doomed, { sqs: { failRequest } })
    expect(counts).toEqual({ failed: 1, deferred: 1 })
    expect(lines.at(-1)).toEqual({
      level: 'warn',
      message: 'dead-letter queue refused a copy',
      fields: { ...at, reason: 'AccessDenied' },
    })
    expect(kit.comesBackAt()).toBe(START + 5000)
  })

  it('that the ledger does not answer', async () => {
    const { counts, lines, kit } = await told(
      handling(() => {}),
      {},
      ({ store }) => store.faults.push('outage'),
    )
    expect(counts).toEqual({ ledgerUnavailable: 1 })
    expect(lines).toEqual([{ level: 'warn', message: 'ledger unavailable', fields: { ...at, reason: 'TimeoutError' } }])
    expect(kit.comesBackAt()).toBe(START + 5000)
  })

  it('that a handler threw after its commit had landed', async () => {
    const { counts, lines, kept } = await told(
      handling(async ({ commit }) => {
        await commit([])
        throw new RangeError('x')
      }),
    )
    expect(counts).toEqual({ handled: 1, thrownAfterCommit: 1 })
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'handler threw after its commit had landed',
        fields: { ...at, attempt: 1, error: 'RangeError' },
      },
    ])
    expect(kept).toBe(0)
  })

  it('that an event waits for something that passes, with no line for each try', async () => {
    const { counts, lines } = await told(handling(() => Promise.reject(new OutboxError('UNAVAILABLE', 'later'))))
    expect([counts, lines]).toEqual([{ deferred: 1 }, []])
  })

  it('that nobody takes a type, and that nobody has a name any more', async () => {
    const { counts, lines } = await told(on('another.type', 'reserve', () => {}))
    expect(counts).toEqual({ failed: 1, unhandledType: 1, deadLettered: 1 })
    expect(lines.at(-1)).toMatchObject({ level: 'error', fields: { eventId: id, handler: 'shop/-', attempts: 1 } })

    const kit = createConsumerKit({ handlers: [handling(() => {})] })
    await kit.send({ ...EVENT, note: { life: START, handlers: ['shop/gone'] } })
    await kit.invoke()
    expect(Object.fromEntries(kit.counts)).toEqual({ failed: 1, unknownHandler: 1, deadLettered: 1 })
  })

  it('that a claim lapsed, and that a handler crashed alone', async () => {
    const kit = createConsumerKit({ handlers: [handling(() => new Promise(() => {}), { maxAttempts: 1 })] })
    const crash = async () => {
      void kit.invoke()
      await kit.pass(1)
      await kit.clock.advance((kit.comesBackAt() ?? 0) - kit.clock.now())
    }
    await kit.send(EVENT)
    await crash()
    expect(Object.fromEntries(kit.counts)).toEqual({})
    await crash()
    expect(Object.fromEntries(kit.counts)).toEqual({ takenOver: 1 })
    await kit.invoke()
    expect(Object.fromEntries(kit.counts)).toEqual({ takenOver: 1, crashed: 1, deadLettered: 1 })
  })

  it('that a ledger of somebody’s own broke off, and keeps the message', async () => {
    const kit = createConsumerKit({ handlers: [handling(() => {})] })
    const claim = () => Promise.reject(new RangeError('secret'))
    await kit.send(EVENT)
    const { kept } = await kit.invoke(10, kit.consumerWith({ ledger: { ...kit.ledger, claim } }))
    expect(kept).toBe(1)
    expect(kit.lines).toEqual([
      {
        level: 'error',
        message: 'delivery broke off; the message stays in the queue',
        fields: { eventId: id, error: 'RangeError' },
      },
    ])
    expect(kit.comesBackAt()).toBe(START + 5000)
  })
})

describe('a handler', () => {
  it('logs under its event, its name and its attempt', async () => {
    const { lines } = await told(
      handling(({ logger }) => {
        logger.info('one', { sku: 7 })
        logger.warn('two', {})
        logger.error('three', { attempt: 'mine' })
      }),
    )
    const fields = { ...at, attempt: 1 }
    expect(lines).toEqual([
      { level: 'info', message: 'one', fields: { ...fields, sku: 7 } },
      { level: 'warn', message: 'two', fields },
      { level: 'error', message: 'three', fields: { ...fields, attempt: 'mine' } },
    ])
  })

  it('has one idempotency key for all of its tries, and none that another handler has', async () => {
    const keys: string[] = []
    const note = ({ idempotencyKey }: HandlerContext) => void keys.push(idempotencyKey)
    const kit = createConsumerKit({
      handlers: [
        on('order.placed', 'one', (_, context) => {
          note(context)
          if (context.attempt === 1) throw new Error('again')
        }),
        on('order.placed', 'two', (_, context) => note(context)),
      ],
    })
    await kit.send(EVENT)
    await kit.drain()
    expect(keys).toEqual([sha256(`${id} shop/one`), sha256(`${id} shop/two`), sha256(`${id} shop/one`)])
  })
})
