import { describe, expect, it } from 'vitest'
import { DEFAULT_BACKOFF } from '../../src/backoff.ts'
import { type ClaimRequest, decideClaim } from '../../src/ledger/decide-claim.ts'
import type { Entry } from '../../src/ledger/entry.ts'
import { proves } from '../cases.ts'

const NOW = 1_800_000_000_000
const LIFE = NOW - 60_000

const entry = (fields: Partial<Entry>): Entry => ({
  id: 'e1',
  name: 'shop/reserve',
  status: 'running',
  token: 't1',
  lease: NOW - 1,
  attempts: 0,
  due: 0,
  life: LIFE,
  expires: NOW / 1000 + 1000,
  ...fields,
})

const request = (fields: Partial<ClaimRequest> = {}): ClaimRequest => ({
  id: 'e1',
  name: 'shop/reserve',
  life: LIFE,
  lease: NOW + 30_000,
  alone: false,
  maxAttempts: 8,
  backoff: DEFAULT_BACKOFF,
  ...fields,
})

const ANEW = { action: 'take', state: { status: 'running', attempts: 0, life: LIFE } }

describe('claim decision', () => {
  it('inserts a row where there is none', () => {
    expect(decideClaim(undefined, request(), NOW)).toEqual(ANEW)
  })

  it('takes an expired row for absent, whatever its status, though it is not deleted yet', () => {
    for (const status of ['running', 'alone', 'failed', 'dead', 'done'] as const) {
      const expired = entry({ status, attempts: 8, lease: NOW + 1, expires: NOW / 1000 })
      expect(decideClaim(expired, request(), NOW)).toEqual(ANEW)
    }
  })

  it('skips what is done or dead in this life', () => {
    expect(decideClaim(entry({ status: 'done' }), request(), NOW)).toEqual({ action: 'skip', status: 'done' })
    expect(decideClaim(entry({ status: 'dead' }), request(), NOW)).toEqual({ action: 'skip', status: 'dead' })
  })

  it('skips what is done or dead in a later life than the message is from', () => {
    const old = request({ life: LIFE - 1 })
    expect(decideClaim(entry({ status: 'done' }), old, NOW)).toEqual({ action: 'skip', status: 'done' })
    expect(decideClaim(entry({ status: 'dead' }), old, NOW)).toEqual({ action: 'skip', status: 'dead' })
  })

  it('starts done, dead and exhausted rows anew for a later life', proves('key-again-after-expiry'), () => {
    const later = request({ life: LIFE + 1 })
    const anew = { action: 'take', state: { status: 'running', attempts: 0, life: LIFE + 1 } }
    expect(decideClaim(entry({ status: 'done', attempts: 3 }), later, NOW)).toEqual(anew)
    expect(decideClaim(entry({ status: 'dead', attempts: 8 }), later, NOW)).toEqual(anew)
    expect(decideClaim(entry({ status: 'failed', attempts: 8 }), later, NOW)).toEqual(anew)
    expect(decideClaim(entry({ status: 'alone', attempts: 7 }), later, NOW)).toEqual(anew)
  })

  it('defers to the end of a live lease, running or alone, even for a later life', () => {
    for (const status of ['running', 'alone'] as const) {
      const live = entry({ status, lease: NOW + 1 })
      expect(decideClaim(live, request({ alone: true, life: LIFE + 1 }), NOW)).toEqual({
        action: 'defer',
        until: NOW + 1,
      })
    }
  })

  it('takes a lapsed claim over only when its turn alone has come, and spends nothing', () => {
    const lapsed = entry({ status: 'running', lease: NOW, attempts: 2 })
    expect(decideClaim(lapsed, request(), NOW)).toEqual({ action: 'wait-alone', crashes: 2 })
    expect(decideClaim(lapsed, request({ alone: true }), NOW)).toEqual({
      action: 'take',
      state: { status: 'alone', attempts: 2, life: LIFE },
      takenOver: 'lapsed',
    })
  })

  it('takes a claim alone for lapsed at the very end of its lease', () => {
    const lapsed = entry({ status: 'alone', lease: NOW })
    expect(decideClaim(lapsed, request({ alone: true }), NOW)).toEqual({ action: 'defer', until: NOW + 5000 })
  })

  it('counts a claim that lapsed alone as an attempt, and lets it wait like a failure', () => {
    const crashed = entry({ status: 'alone', lease: NOW - 4999, attempts: 0 })
    expect(decideClaim(crashed, request({ alone: true }), NOW)).toEqual({ action: 'defer', until: NOW + 1 })
    expect(decideClaim(crashed, request({ alone: true }), NOW + 1)).toEqual({
      action: 'take',
      state: { status: 'alone', attempts: 1, life: LIFE },
      takenOver: 'crashed',
    })
    expect(decideClaim(crashed, request(), NOW + 1)).toEqual({ action: 'wait-alone', crashes: 1 })
  })

  it('dead-letters the crash that spends the last attempt, without running it again', () => {
    const decision = decideClaim(entry({ status: 'alone', attempts: 7 }), request({ alone: true }), NOW)
    expect(decision).toMatchObject({
      action: 'exhausted',
      exhausted: { status: 'alone', token: 't1', attempts: 8, failure: expect.stringContaining('the process ended') },
    })
  })

  it('starts anew for a later life what crashed alone in its last attempt', () => {
    const crashed = entry({ status: 'alone', attempts: 7 })
    expect(decideClaim(crashed, request({ life: LIFE + 1 }), NOW)).toEqual({
      action: 'take',
      state: { status: 'running', attempts: 0, life: LIFE + 1 },
    })
  })

  it('claims a failed row once it is due, keeping its attempts', () => {
    const failed = entry({ status: 'failed', due: NOW + 1, attempts: 3 })
    expect(decideClaim(failed, request(), NOW)).toEqual({ action: 'defer', until: NOW + 1 })
    expect(decideClaim(failed, request(), NOW + 1)).toEqual({
      action: 'take',
      state: { status: 'running', attempts: 3, life: LIFE },
    })
  })

  it('never takes a row back to an earlier life', () => {
    const failed = entry({ status: 'failed', life: LIFE + 9 })
    expect(decideClaim(failed, request(), NOW)).toMatchObject({ state: { life: LIFE + 9 } })
    expect(decideClaim(failed, request({ life: LIFE + 10 }), NOW)).toMatchObject({ state: { life: LIFE + 10 } })
  })

  it('resumes dead-lettering at the limit, due or not, also after the limit was lowered', () => {
    const failed = entry({ status: 'failed', attempts: 5, due: NOW + 1, failure: 'no stock' })
    const decision = decideClaim(failed, request({ maxAttempts: 3 }), NOW)
    expect(decision).toMatchObject({
      action: 'exhausted',
      exhausted: { attempts: 5, failure: 'no stock', status: 'failed' },
    })
    const { failure, ...silent } = failed
    expect(decideClaim(silent, request({ maxAttempts: 3 }), NOW)).toMatchObject({
      exhausted: { failure: 'no reason stored' },
    })
  })
})
