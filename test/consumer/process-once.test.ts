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

  it('refuses options it does not know, and an event without an id', async () => {
    const { ledger, options } = setup()
    for (const eventId of ['', 'x'.repeat(1025)]) {
      await expect(processOnce(ledger, { ...options, eventId }, () => 1)).rejects.toMatchObject({
        code: 'INVALID_SETTING',
      })
    }
    const wrong = [{ lease: 3 }, { life: Number.NaN }, { life: -1 }, { backoff: { firstSeconds: Number.NaN } }]
    for (const changes of wrong) {
      await expect(processOnce(ledger, { ...options, ...changes } as never, () => 1)).rejects.toMatchObject({
        code: 'INVALID_SETTING',
      })
    }
  })
})
