import { describe, expect, it } from 'vitest'
import { DEFAULT_BACKOFF } from '../../src/backoff.ts'
import { createClaims } from '../../src/ledger/claims.ts'
import type { Claim } from '../../src/ledger/ledger.ts'
import type { LedgerStore } from '../../src/ledger/ledger-store.ts'
import { testClock } from '../support/clock.ts'
import { createMemoryLedgerStore } from '../support/memory-ledger-store.ts'

const key = { id: 'e1', name: 'shop/reserve' }

const setup = () => {
  const clock = testClock()
  const rows = createMemoryLedgerStore()
  const request = (fields = {}) => ({
    ...key,
    life: 1,
    lease: clock.now() + 60_000,
    alone: false,
    maxAttempts: 8,
    backoff: DEFAULT_BACKOFF,
    ...fields,
  })
  return { clock, rows, request, claims: createClaims({ store: rows, clock, keepSeconds: 86_400 }) }
}

/** The memory store, with something done to its row before each write, as by another worker. */
const disturbed = (store: LedgerStore, disturb: (write: number) => void): LedgerStore & { readonly writes: number } => {
  let writes = 0
  return {
    get writes() {
      return writes
    },
    write: (write) => {
      disturb(++writes)
      return store.write(write)
    },
  }
}

describe('a claim', () => {
  it('looks five times at a row that others keep changing under it, then comes back in a second', async () => {
    const { clock, rows, request, claims } = setup()
    await claims.claim(request())
    const store = disturbed(rows, (n) => {
      const entry = rows.read(key)
      if (entry !== undefined) rows.rows.set('e1 shop/reserve', { ...entry, status: 'failed', token: `other-${n}` })
    })
    const outcome = await createClaims({ store, clock, keepSeconds: 1 }).claim(request())
    expect(outcome).toEqual({ status: 'deferred', until: clock.now() + 1000 })
    expect(store.writes).toBe(5)
    expect(rows.read(key)).toMatchObject({ status: 'failed', token: 'other-5' })
  })

  it('says from whom it was taken over, and nothing of that otherwise', async () => {
    const { clock, request, claims } = setup()
    expect(await claims.claim(request())).not.toHaveProperty('takenOver')
    clock.advance(60_000)
    expect(await claims.claim(request({ alone: true }))).toMatchObject({ status: 'claimed', takenOver: 'lapsed' })
    clock.advance(60_000 + 5000)
    expect(await claims.claim(request({ alone: true }))).toMatchObject({ status: 'claimed', takenOver: 'crashed' })
  })

  it('is its own where the answer was lost', async () => {
    const { rows, request, claims } = setup()
    rows.faults.push('lost-answer', 'lost-answer')
    expect(await claims.claim(request())).toMatchObject({ status: 'claimed' })
  })
})

describe('a write of a claim', () => {
  const claimed = async () => {
    const parts = setup()
    const outcome = await parts.claims.claim(parts.request())
    if (outcome.status !== 'claimed') throw new Error(`not claimed but ${outcome.status}`)
    return { ...parts, claim: outcome.claim }
  }

  it('that is throttled is sent again, five times at most, after pauses that grow', async () => {
    const { clock, rows, claims, claim } = await claimed()
    rows.faults.push('throttle', 'throttle', 'throttle', 'throttle')
    expect(await claims.complete(claim)).toEqual({ status: 'settled' })
    expect(clock.sleeps).toEqual([12.5, 25, 50, 100])

    const { rows: others, claims: their, claim: theirs } = await claimed()
    others.faults.push(...(Array(5).fill('throttle') as 'throttle'[]))
    expect(await their.release(theirs, 0)).toEqual({ status: 'unavailable', reason: 'ThrottlingError' })
    expect(others.faults).toEqual([])
    expect(others.read(key)).toMatchObject({ status: 'running' })
  })

  it('that met an outage is not sent again: the row will tell', async () => {
    const { clock, rows, claims, claim } = await claimed()
    rows.faults.push('outage')
    expect(await claims.complete(claim)).toEqual({ status: 'unavailable', reason: 'TimeoutError' })
    expect(clock.sleeps).toEqual([])
    expect(rows.read(key)).toMatchObject({ status: 'running' })
  })

  it('of whose answer only the second try learns is settled, whatever it was', async () => {
    const ends: ((claims: ReturnType<typeof createClaims>, claim: Claim) => Promise<unknown>)[] = [
      (claims, claim) => claims.complete(claim),
      (claims, claim) => claims.release(claim, 0),
      (claims, claim) => claims.fail(claim, { attempts: 1, due: 0, reason: 'no stock' }),
    ]
    for (const end of ends) {
      const { rows, claims, claim } = await claimed()
      rows.faults.push('lost-answer')
      expect(await end(claims, claim)).toEqual({ status: 'settled' })
    }
  })

  it('is refused by a row that is no longer as it was claimed, and by its absence', async () => {
    const { rows, claims, claim } = await claimed()
    await claims.complete(claim)
    expect(await claims.fail(claim, { attempts: 1, due: 0, reason: 'late' })).toMatchObject({
      status: 'lost',
      entry: { status: 'done', token: claim.token },
    })
    rows.remove(key)
    expect(await claims.complete(claim)).toEqual({ status: 'lost', entry: undefined })
  })
})
