import { describe, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import { processOnce } from '../../src/consumer/process-once.ts'
import { permanentError } from '../../src/errors.ts'
import { silentTelemetry } from '../../src/telemetry.ts'
import { createConsumerKit, START } from '../support/consumer-kit.ts'

const quiet = { info: () => {}, warn: () => {}, error: () => {} }

function setup() {
  const { ledger, clock, store } = createConsumerKit({ handlers: [on('t', 'h', () => {})] })
  const options = { consumer: 'mail', handler: 'send', eventId: 'e1', clock, logger: quiet, telemetry: silentTelemetry }
  return { ledger, clock, store, options }
}

describe('processOnce', () => {
  it('runs once and answers later deliveries as duplicates', async () => {
    const { ledger, options } = setup()
    expect(await processOnce(ledger, options, () => 42)).toEqual({ status: 'handled', result: 42 })
    expect(await processOnce(ledger, options, () => 43)).toEqual({ status: 'duplicate' })
  })

  it('answers with when to come back, and with what was thrown', async () => {
    const { ledger, options } = setup()
    const error = new Error('broken')
    const due = START + 5000
    expect(await processOnce(ledger, options, () => Promise.reject(error))).toEqual({ status: 'later', due, error })
    expect(await processOnce(ledger, options, () => 42)).toEqual({ status: 'later', due })
  })

  it('lets one of two run, and sends the other one away until the lease ends', async () => {
    const { ledger, options } = setup()
    const gate = Promise.withResolvers<void>()
    const first = processOnce(ledger, { ...options, leaseSeconds: 10 }, () => gate.promise)
    await new Promise((resolve) => setImmediate(resolve))
    expect(await processOnce(ledger, options, () => 42)).toEqual({ status: 'later', due: START + 10_000 })
    gate.resolve()
    expect((await first).status).toBe('handled')
  })

  it('answers exhausted until it is buried', async () => {
    const { ledger, options } = setup()
    const doomed = () => processOnce(ledger, options, () => Promise.reject(permanentError('no such mailbox')))
    const first = await doomed()
    expect(first).toMatchObject({ status: 'exhausted', reason: 'no such mailbox', attempts: 8 })
    const second = await doomed()
    if (second.status !== 'exhausted') throw new Error(second.status)
    expect(await second.bury()).toBe(true)
    expect(await doomed()).toEqual({ status: 'dead' })
  })

  it('asks to be run alone after a crash, where others run beside it', async () => {
    const { ledger, options, clock, store } = setup()
    void processOnce(ledger, { ...options, leaseSeconds: 1 }, () => new Promise(() => {}))
    while (store.rows.size === 0) await new Promise((resolve) => setImmediate(resolve))
    await clock.advance(1000)
    expect(await processOnce(ledger, { ...options, alone: false }, () => 42)).toEqual({ status: 'wait-alone' })
    expect(await processOnce(ledger, options, () => 42)).toEqual({ status: 'handled', result: 42 })
  })

  it('commits items and its own done as one', async () => {
    const { ledger, options, store } = setup()
    const outcome = await processOnce(ledger, options, async ({ commit }) => commit([]))
    expect(outcome.status).toBe('handled')
    expect([...store.rows.values()]).toMatchObject([{ name: 'mail/send', status: 'done' }])
  })

  it('is sent away, and runs nothing, while the ledger is out of reach', async () => {
    const { ledger, options, store } = setup()
    store.faults.push('outage')
    expect(await processOnce(ledger, options, () => 42)).toEqual({ status: 'later', due: START + 5000 })
  })

  it.each([
    [{ lease: 3 }, 'processOnce: "lease" is not an option; allowed are consumer, handler, eventId, life,'],
    [{ consumer: 'a/b' }, 'consumer must be 1–64'],
    [{ handler: '' }, 'handler must be 1–64'],
    [{ eventId: '' }, 'eventId must be text of 1–1024 bytes.'],
    [{ eventId: 'x'.repeat(1025) }, 'eventId must be text of 1–1024 bytes.'],
    [{ eventId: 'é'.repeat(513) }, 'eventId must be text of 1–1024 bytes.'],
    [{ eventId: 7 }, 'eventId must be text of 1–1024 bytes.'],
    [{ life: Number.NaN }, 'life must be whole milliseconds since 1970.'],
    [{ life: -1 }, 'life must be whole milliseconds since 1970.'],
    [{ backoff: { firstSeconds: Number.NaN } }, 'backoff.firstSeconds must be'],
    [{ maxAttempts: 0 }, 'maxAttempts must be a whole number'],
    [{ leaseSeconds: 3601 }, 'leaseSeconds must be a whole number of seconds from 1 to 3600.'],
  ])('refuses %j', async (changes, message) => {
    const { ledger, options } = setup()
    await expect(processOnce(ledger, { ...options, ...changes } as never, () => 1)).rejects.toMatchObject({
      code: 'INVALID_SETTING',
      message: expect.stringContaining(message),
    })
  })

  it('refuses what is no ledger and what is no function', async () => {
    const { ledger, options } = setup()
    for (const alien of [undefined, {}]) {
      await expect(processOnce(alien as never, options, () => 1)).rejects.toThrow(
        'ledger must be made by createLedger.',
      )
    }
    await expect(processOnce(ledger, options, 1 as never)).rejects.toThrow('fn must be a function.')
  })

  it('takes an id of 1,024 bytes, a life of 0 and every option it names', async () => {
    const { ledger, options } = setup()
    const all = {
      ...options,
      eventId: 'x'.repeat(1024),
      life: 0,
      leaseSeconds: 1,
      maxAttempts: 1,
      backoff: { firstSeconds: 1 },
      alone: true,
      outbox: ledger.committer,
      signal: new AbortController().signal,
    }
    expect(await processOnce(ledger, all, ({ signal }) => signal === all.signal)).toEqual({
      status: 'handled',
      result: true,
    })
  })

  it('runs again for a later life, and after a failure on its own schedule', async () => {
    const { ledger, options, clock } = setup()
    expect((await processOnce(ledger, options, () => 1)).status).toBe('handled')
    const later = { ...options, life: 1, backoff: { firstSeconds: 7 } }
    const failed = await processOnce(ledger, later, () => Promise.reject(new Error('broken')))
    expect(failed).toMatchObject({ status: 'later', due: START + 7000 })
    await clock.advance(7000)
    expect(await processOnce(ledger, later, ({ attempt }) => attempt)).toEqual({ status: 'handled', result: 2 })
  })

  it('retries a commit until a second before its lease ends, or a fifth of a short one', async () => {
    const { ledger, options } = setup()
    const deadlines: unknown[] = []
    const committer = {
      ...ledger.committer,
      commit: (request: { deadline?: number }) => {
        deadlines.push(request.deadline)
        return ledger.committer.commit(request as never)
      },
    }
    for (const leaseSeconds of [60, 2]) {
      const once = { ...options, eventId: `e${leaseSeconds}`, leaseSeconds }
      await processOnce({ ...ledger, committer }, once, ({ commit }) => commit([]))
    }
    expect(deadlines).toEqual([START + 59_000, START + 1600])
  })
})
