import { describe, expect, it } from 'vitest'
import { DEFAULT_BACKOFF } from '../../src/backoff.ts'
import type { ClaimRequest } from '../../src/ledger/decide-claim.ts'
import type { Entry, EntryKey } from '../../src/ledger/entry.ts'
import type { Claim, ClaimOutcome, Ledger } from '../../src/ledger/ledger.ts'
import { proves } from '../cases.ts'
import type { TestClock } from '../support/clock.ts'

export type LedgerUnderTest = {
  readonly ledger: Pick<Ledger, 'claim' | 'complete' | 'fail' | 'release' | 'bury'>
  readonly clock: TestClock
  readonly read: (key: EntryKey) => Promise<Entry | undefined>
  /** Deletes a row, as the expiry does in its own time. */
  readonly remove: (key: EntryKey) => Promise<void>
}

export const KEEP_SECONDS = 30 * 86_400
const LEASE_MS = 60_000

/** What every ledger must do. */
export function describeLedger(name: string, create: () => Promise<LedgerUnderTest>): void {
  let events = 0

  const setup = async () => {
    const tested = await create()
    const key = { id: `${name} ${++events}`, name: 'shop/reserve' }
    const life = tested.clock.now() - 1000
    const request = (fields: Partial<ClaimRequest> = {}): ClaimRequest => ({
      ...key,
      life,
      lease: tested.clock.now() + LEASE_MS,
      alone: false,
      maxAttempts: 3,
      backoff: DEFAULT_BACKOFF,
      ...fields,
    })
    return { ...tested, key, life, request, claimed: async () => claimOf(await tested.ledger.claim(request())) }
  }

  describe(`ledger: ${name}`, () => {
    it(
      'lets one of many win, and defers the others to the end of its lease',
      proves('duplicate-while-running'),
      async () => {
        const { ledger, request, clock, key, read } = await setup()
        const outcomes = await Promise.all(Array.from({ length: 8 }, () => ledger.claim(request())))
        expect(outcomes.filter(({ status }) => status === 'claimed')).toHaveLength(1)
        const until = clock.now() + LEASE_MS
        expect(outcomes.filter(({ status }) => status !== 'claimed')).toEqual(
          Array(7).fill({ status: 'deferred', until }),
        )
        expect(await read(key)).toMatchObject({ status: 'running', attempts: 0, lease: until })
      },
    )

    it('keeps two consumers with a handler of the same name apart', proves('same-handler-name'), async () => {
      const { ledger, request } = await setup()
      const names = ['shop/notify', 'stock/notify']
      const outcomes = await Promise.all(names.map((name) => ledger.claim(request({ name }))))
      expect(outcomes.map(({ status }) => status)).toEqual(['claimed', 'claimed'])
    })

    it('is done once it is completed', async () => {
      const { ledger, request, claimed } = await setup()
      expect(await ledger.complete(await claimed())).toEqual({ status: 'settled' })
      expect(await ledger.claim(request())).toEqual({ status: 'done' })
    })

    it('sets an expiry in seconds, counted from the claim', proves('ttl-unit'), async () => {
      const { claimed, clock, key, read } = await setup()
      const expires = Math.floor(clock.now() / 1000) + KEEP_SECONDS
      await claimed()
      expect((await read(key))?.expires).toBe(expires)
    })

    it('takes over an expired row that is not deleted yet as if it were absent', async () => {
      const { ledger, request, claimed, clock } = await setup()
      await ledger.complete(await claimed())
      clock.advance(KEEP_SECONDS * 1000)
      expect(claimOf(await ledger.claim(request()))).toMatchObject({ status: 'running', attempts: 0 })
      expect((await ledger.claim(request())).status).toBe('deferred')
    })

    it('lets one of many take over an expired row', async () => {
      const { ledger, request, claimed, clock } = await setup()
      await ledger.complete(await claimed())
      clock.advance(KEEP_SECONDS * 1000)
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => ledger.claim(request())))
      expect(outcomes.filter(({ status }) => status === 'claimed')).toHaveLength(1)
    })

    it('counts failures, waits until they are due, and keeps the reason', async () => {
      const { ledger, request, claimed, clock, key, read } = await setup()
      const due = clock.now() + 5000
      expect(await ledger.fail(await claimed(), { attempts: 1, due, reason: 'no stock' })).toEqual({
        status: 'settled',
      })
      expect(await ledger.claim(request())).toEqual({ status: 'deferred', until: due })
      clock.advance(5000)
      expect(claimOf(await ledger.claim(request()))).toMatchObject({ status: 'running', attempts: 1 })
      expect(await read(key)).toMatchObject({ failure: 'no stock', attempts: 1 })
    })

    it('gives a released claim back unspent', async () => {
      const { ledger, request, claimed, clock } = await setup()
      const due = clock.now() + 2000
      expect(await ledger.release(await claimed(), due)).toEqual({ status: 'settled' })
      expect(await ledger.claim(request())).toEqual({ status: 'deferred', until: due })
      clock.advance(2000)
      expect(claimOf(await ledger.claim(request()))).toMatchObject({ attempts: 0 })
    })

    it('refuses every write of a stale worker', proves('late-worker'), async () => {
      const { ledger, request, claimed, clock, key, read } = await setup()
      const stale = await claimed()
      clock.advance(LEASE_MS)
      const owner = claimOf(await ledger.claim(request({ alone: true })))
      const before = await read(key)
      for (const outcome of [
        await ledger.complete(stale),
        await ledger.fail(stale, { attempts: 3, due: 0, reason: 'late' }),
        await ledger.release(stale, 0),
      ]) {
        expect(outcome).toMatchObject({ status: 'lost', entry: { token: owner.token, status: 'alone' } })
      }
      expect(await read(key)).toEqual(before)
      expect(await ledger.complete(owner)).toEqual({ status: 'settled' })
    })

    it('lets one of many take over a lapsed claim', async () => {
      const { ledger, request, claimed, clock } = await setup()
      await claimed()
      clock.advance(LEASE_MS)
      expect(await ledger.claim(request())).toEqual({ status: 'wait-alone', crashes: 0 })
      const outcomes = await Promise.all(Array.from({ length: 5 }, () => ledger.claim(request({ alone: true }))))
      expect(outcomes.filter(({ status }) => status === 'claimed')).toHaveLength(1)
    })

    it('says what stands there, or that nothing does, when a write is refused', async () => {
      const { ledger, claimed, key, remove } = await setup()
      const claim = await claimed()
      await ledger.complete(claim)
      expect(await ledger.release(claim, 0)).toMatchObject({
        status: 'lost',
        entry: { status: 'done', token: claim.token },
      })
      await remove(key)
      expect(await ledger.complete(claim)).toEqual({ status: 'lost', entry: undefined })
    })

    it('recognises its own completion when it is sent twice', async () => {
      const { ledger, claimed } = await setup()
      const claim = await claimed()
      expect(await ledger.complete(claim)).toEqual({ status: 'settled' })
      expect(await ledger.complete(claim)).toEqual({ status: 'settled' })
    })

    it('buries only the version that was copied', proves('crash-while-dead-lettering'), async () => {
      const { ledger, request, claimed, life } = await setup()
      await ledger.fail(await claimed(), { attempts: 3, due: 0, reason: 'broken' })
      const outcome = await ledger.claim(request())
      if (outcome.status !== 'exhausted') throw new Error(`not exhausted but ${outcome.status}`)
      expect(outcome.exhausted).toMatchObject({ attempts: 3, failure: 'broken', life })
      expect(await ledger.bury(outcome.exhausted)).toEqual({ status: 'settled' })
      expect(await ledger.bury(outcome.exhausted)).toEqual({ status: 'settled' })
      expect(await ledger.claim(request())).toEqual({ status: 'dead' })
      claimOf(await ledger.claim(request({ life: life + 1 })))
      expect((await ledger.bury(outcome.exhausted)).status).toBe('lost')
    })

    it('spends an attempt for each crash alone, and none for a neighbour', proves('crashing-neighbour'), async () => {
      const { ledger, request, claimed, clock, key, read } = await setup()
      await claimed()
      const attempts: number[] = []
      for (let outcome: ClaimOutcome; ; ) {
        clock.advance(LEASE_MS + 300_000)
        outcome = await ledger.claim(request({ alone: true }))
        if (outcome.status !== 'claimed') {
          expect(outcome).toMatchObject({ status: 'exhausted', exhausted: { attempts: 3, status: 'alone' } })
          break
        }
        attempts.push(claimOf(outcome).attempts)
      }
      expect(attempts).toEqual([0, 1, 2])
      expect(await read(key)).toMatchObject({ status: 'alone', attempts: 2 })
    })
  })
}

function claimOf(outcome: ClaimOutcome): Claim {
  if (outcome.status !== 'claimed') throw new Error(`not claimed but ${outcome.status}`)
  return outcome.claim
}
