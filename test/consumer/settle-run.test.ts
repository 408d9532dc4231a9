import { describe, expect, it } from 'vitest'
import { decideSettlement, type RunEnd } from '../../src/consumer/decide-settlement.ts'
import type { Job } from '../../src/consumer/job.ts'
import { notWritten } from '../../src/consumer/settle-run.ts'
import { permanentError } from '../../src/errors.ts'
import type { Entry } from '../../src/ledger/entry.ts'
import type { Claim, SettleOutcome } from '../../src/ledger/ledger.ts'
import type { MetricKey } from '../../src/telemetry.ts'
import { testClock } from '../support/clock.ts'

const NOW = 1_800_000_000_000
const claim: Claim = { id: 'e', name: 'c/h', token: 't1', status: 'running', lease: NOW, attempts: 2, life: 1 }
const entry = (fields: Partial<Entry>): Entry => ({
  ...claim,
  token: 't2',
  due: 0,
  expires: NOW,
  ...fields,
})

function standing(outcome: Exclude<SettleOutcome, { status: 'settled' }>, owned: { token: string; lease?: number }) {
  const counts: MetricKey[] = []
  const telemetry = { count: (metric: MetricKey) => void counts.push(metric) }
  return [notWritten({ telemetry, clock: testClock(NOW) }, owned, outcome), ...counts]
}

describe('a run whose end was not written', () => {
  it('comes back after its lease, and not before five seconds, while the ledger does not answer', () => {
    const out = { status: 'unavailable', reason: 'x' } as const
    const back = (due: number) => [{ status: 'unsettled', due }, 'ledgerUnavailable']
    expect(standing(out, { token: 't1', lease: NOW + 30_000 })).toEqual(back(NOW + 30_000))
    expect(standing(out, { token: 't1', lease: NOW })).toEqual(back(NOW + 5000))
    expect(standing(out, { token: 't1' })).toEqual(back(NOW + 5000))
  })

  const lost = (fields: Partial<Entry>) => standing({ status: 'lost', entry: entry(fields) }, claim)

  it('is handled if the row is done by this very claim', () => {
    expect(lost({ status: 'done', token: 't1' })).toEqual([{ status: 'settled', how: 'handled' }, 'handled'])
  })

  it('is settled as the row is, if another one has ended it', () => {
    expect(lost({ status: 'done' })).toEqual([{ status: 'settled', how: 'done' }, 'claimLost'])
    expect(lost({ status: 'dead' })).toEqual([{ status: 'settled', how: 'dead' }, 'claimLost'])
    expect(lost({ status: 'dead', token: 't1' })).toEqual([{ status: 'settled', how: 'dead' }, 'claimLost'])
  })

  it('waits for whoever holds the row now, and not less than five seconds', () => {
    const back = (due: number) => [{ status: 'unsettled', due }, 'claimLost']
    for (const status of ['running', 'alone'] as const) {
      expect(lost({ status, lease: NOW + 60_000, due: NOW + 90_000 })).toEqual(back(NOW + 60_000))
      expect(lost({ status, lease: NOW + 1 })).toEqual(back(NOW + 5000))
    }
    expect(lost({ status: 'failed', lease: NOW + 90_000, due: NOW + 20_000 })).toEqual(back(NOW + 20_000))
    expect(lost({ status: 'failed', lease: NOW + 90_000 })).toEqual(back(NOW + 5000))
    expect(standing({ status: 'lost', entry: undefined }, claim)).toEqual(back(NOW + 5000))
  })
})

describe('the settlement of a run', () => {
  const job: Job = { name: 'c/h', maxAttempts: 8, backoff: { firstSeconds: 5, capSeconds: 300 }, run: async () => {} }
  const context = { claim, job, receiveCount: 3, now: NOW }
  const threw = (error: unknown): RunEnd => ({ threw: true, error })
  const OPEN = { status: 'open' } as const

  it('counts a failure and lets it wait by its number', () => {
    expect(decideSettlement(threw(new Error('broken')), OPEN, context)).toEqual({
      action: 'fail',
      failure: { attempts: 3, due: NOW + 20_000, reason: 'Error: broken' },
    })
  })

  it('spends all attempts at once where retrying cannot help, and never gives one back', () => {
    const permanent = (attempts: number) =>
      decideSettlement(threw(permanentError('no')), OPEN, { ...context, claim: { ...claim, attempts } })
    expect(permanent(0)).toMatchObject({ failure: { attempts: 8, reason: 'no' } })
    expect(permanent(9)).toMatchObject({ failure: { attempts: 10 } })
  })

  it('lets a deferral wait by how often the message came', () => {
    expect(decideSettlement({ threw: false }, { status: 'undecided' }, context)).toEqual({
      action: 'release',
      due: NOW + 20_000,
    })
  })

  it('stores a reason for whatever was thrown', () => {
    const unreadable = {
      toString: () => {
        throw new Error('worse')
      },
    }
    for (const [thrown, reason] of [
      ['text', 'text'],
      [undefined, 'undefined'],
      [unreadable, 'something was thrown that has no text'],
      [Object.create(null), 'something was thrown that has no text'],
    ]) {
      expect(decideSettlement(threw(thrown), OPEN, context)).toMatchObject({ failure: { reason } })
    }
  })
})
