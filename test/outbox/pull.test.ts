import { describe, expect, it } from 'vitest'
import { eventId } from '../../src/event/identity.ts'
import type { PulledEvent } from '../../src/outbox/pull-claim.ts'
import { deadShard, rowKey } from '../../src/outbox/row.ts'
import { proves } from '../cases.ts'
import { CREATED, dead, keyed, numbered, pullRow, relayed } from '../support/pull-rows.ts'
import { createPullWorld, LEASE_MS } from '../support/pull-world.ts'

const KEY = rowKey(keyed('a'))

async function one(claims: Promise<readonly PulledEvent[]>): Promise<PulledEvent> {
  const [first, ...others] = await claims
  if (first === undefined || others.length > 0) throw new Error(`${others.length} others`)
  return first
}
const keysOf = (claims: readonly PulledEvent[]) => claims.map(({ event }) => event.key).sort()

describe('a claim', () => {
  it('gives the event, and holds its row under the worker’s name until the lease ends', async () => {
    const { store, clock, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    const claimed = await one(worker('w-1').claim())
    expect(claimed).toMatchObject({
      claims: 1,
      lease: clock.now() + LEASE_MS,
      event: { id: eventId(keyed('a')), key: 'a' },
    })
    expect(store.get(KEY)).toMatchObject({ claims: 1, due: claimed.lease, shard: claimed.hold.shard })
    expect(store.get(KEY)?.['token']).toMatch(/^w-1 [0-9a-f]{16}$/)
    expect(await worker('w-2').claim()).toEqual([])
  })

  it('gives as many as are asked for, at most', async () => {
    const { store, worker } = createPullWorld()
    for (let n = 0; n < 30; n++) store.put(pullRow(keyed(`k${n}`)))
    expect(await worker().claim({ limit: 7 })).toHaveLength(7)
    expect(await worker().claim({ limit: 100 })).toHaveLength(23)
    await expect(worker().claim({ limit: 101 })).rejects.toMatchObject({ code: 'INVALID_SETTING' })
    await expect(worker().claim({ max: 1 } as never)).rejects.toMatchObject({ code: 'INVALID_SETTING' })
  })

  it('of two workers at once is one', async () => {
    const { store, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    const claims = await Promise.all([worker('w-1').claim(), worker('w-2').claim()])
    expect(claims.flat()).toHaveLength(1)
  })

  it('whose answer was lost is recognised as our own', proves('claim-answer-lost'), async () => {
    const { store, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    store.faults.push('lost-answer')
    expect(await one(worker().claim())).toMatchObject({ claims: 1 })
    expect(store.get(KEY)).toMatchObject({ claims: 1 })
  })

  it('that lapsed is taken over, and the late worker changes nothing', proves('late-worker'), async () => {
    const { store, clock, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    const [late, next] = [worker('w-1'), worker('w-2')]
    const old = await one(late.claim())
    clock.advance(LEASE_MS)
    const taken = await one(next.claim())
    expect(taken.claims).toBe(2)
    const held = store.get(KEY)
    expect(await late.acknowledge(old)).toBe(false)
    expect(await late.acknowledge({ ...old, hold: { ...old.hold, lease: taken.lease } })).toBe(false)
    expect(await late.renew(old)).toBeUndefined()
    expect(await late.fail(old, 'x')).toEqual({ status: 'lost' })
    expect(await late.release(old)).toBe(false)
    expect(await late.deadLetter(old, 'x')).toBe(false)
    expect(store.get(KEY)).toEqual(held)
    expect(await next.acknowledge(taken)).toBe(true)
  })

  it('after the last allowed one dead-letters, with a reason', proves('pull-worker-last-claim'), async () => {
    const { store, clock, counts, errors, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    const dying = worker('dies')
    for (const claims of [1, 2, 3]) {
      expect(await one(dying.claim())).toMatchObject({ claims })
      clock.advance(LEASE_MS)
    }
    expect(await worker().claim()).toEqual([])
    expect(store.get(KEY)).toMatchObject({
      shard: deadShard(KEY),
      claims: 3,
      failure: expect.stringContaining('3 times'),
    })
    expect(store.get(KEY)).not.toHaveProperty('token')
    expect(store.get(KEY)).not.toHaveProperty('expires')
    expect(counts.get('deadRows')).toBe(1)
    expect(errors).toMatchObject([{ message: 'row dead-lettered', id: eventId(keyed('a')) }])
    expect(await worker().claim()).toEqual([])
  })

  it('is for rows of this source and Region that this version knows', async () => {
    const { store, counts, worker } = createPullWorld()
    store.put(pullRow(keyed('far'), { region: 'eu-west-1' }))
    store.put(pullRow(keyed('newer'), { v: 2 }))
    store.put(pullRow({ source: 'other', key: 'a' }))
    store.put(pullRow(keyed('relay'), { shard: 'p#00' }))
    const before = store.all()
    expect(await worker().claim({ limit: 10 })).toEqual([])
    expect(store.all()).toEqual(before)
    expect(counts.get('newerRows')).toBe(1)
  })

  it('sets a row aside that cannot be understood, alone', proves('undecodable-row'), async () => {
    const { store, counts, worker } = createPullWorld()
    const shard = String(pullRow(keyed('a'))['shard'])
    store.put(pullRow(keyed('a')))
    store.put(pullRow(keyed('body'), { body: '{"half":' }))
    store.put(pullRow(keyed('b'), { body: undefined }))
    store.put(pullRow(keyed('c'), { region: undefined }))
    store.put(pullRow(keyed('d'), { claims: 'many' }))
    store.put(pullRow(keyed('e'), { pk: 'foreign', shard }))
    expect(keysOf(await worker().claim({ limit: 10 }))).toEqual(['a'])
    expect(counts.get('malformedRows')).toBe(5)
    const reasons = store.all().map(({ failure }) => failure)
    expect(reasons.filter((reason) => reason !== undefined)).toHaveLength(5)
    expect(String(reasons)).not.toContain('half')
  })

  it('takes a row whose writer’s clock was far ahead', async () => {
    const { store, worker } = createPullWorld()
    store.put(pullRow(keyed('a'), { due: CREATED + 26 * 3_600_000 }))
    expect(await worker().claim()).toHaveLength(1)
  })

  it('says so if the table does not answer, and keeps what was claimed before', async () => {
    const { store, worker } = createPullWorld()
    for (let n = 0; n < 4; n++) store.put(pullRow(keyed(`k${n}`)))
    store.faults.push('outage', 'outage', 'outage')
    await expect(worker().claim()).rejects.toMatchObject({ code: 'UNAVAILABLE', retryable: true })
    store.faults.push('ok', ...Array<'outage'>(9).fill('outage'))
    expect((await worker().claim({ limit: 4 })).length).toBeGreaterThan(0)
  })
})

describe('an answer', () => {
  it(
    'of success relays the row, which expires in seconds and is not handed out again',
    proves('ttl-unit'),
    async () => {
      const { store, clock, worker } = createPullWorld()
      store.put(pullRow(keyed('a')))
      const puller = worker()
      expect(await puller.acknowledge(await one(puller.claim()))).toBe(true)
      expect(store.get(KEY)).not.toHaveProperty('shard')
      expect(store.get(KEY)?.['expires']).toBe(Math.floor(clock.now() / 1000) + 7 * 86_400)
      clock.advance(10 * LEASE_MS)
      expect(await puller.claim()).toEqual([])
    },
  )

  it('of success is a success when its own was lost', async () => {
    const { store, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    const puller = worker()
    const claimed = await one(puller.claim())
    store.faults.push('lost-answer')
    expect(await puller.acknowledge(claimed)).toBe(true)
    expect(await puller.acknowledge(claimed)).toBe(true)
  })

  it('of failure brings the event back after the backoff, until the claims are spent', async () => {
    const { store, clock, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    const puller = worker()
    for (const seconds of [5, 10]) {
      const due = clock.now() + seconds * 1000
      expect(await puller.fail(await one(puller.claim()), 'no\u0000answer')).toEqual({ status: 'retrying', due })
      expect(store.get(KEY)).toMatchObject({ due, failure: 'no answer' })
      clock.advance(seconds * 1000 - 1)
      expect(await puller.claim()).toEqual([])
      clock.advance(1)
    }
    expect(await puller.fail(await one(puller.claim()), 'still no answer')).toEqual({ status: 'dead' })
    expect(store.get(KEY)).toMatchObject({ shard: deadShard(KEY), failure: 'still no answer', claims: 3 })
    expect(await puller.claim()).toEqual([])
  })

  it('of release gives the claim back', async () => {
    const { store, clock, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    const puller = worker()
    for (let n = 0; n < 10; n++) {
      const claimed = await one(puller.claim())
      expect(claimed.claims).toBe(1)
      expect(await puller.release(claimed, clock.now() + 1000)).toBe(true)
      expect(await puller.claim()).toEqual([])
      clock.advance(1000)
    }
    expect(await puller.release(await one(puller.claim()))).toBe(true)
    expect(await puller.claim()).toHaveLength(1)
  })

  it('of renewal holds the row for another lease; the old claim answers no more', async () => {
    const { store, clock, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    const puller = worker()
    const claimed = await one(puller.claim())
    clock.advance(LEASE_MS - 1)
    store.faults.push('lost-answer')
    const renewed = await puller.renew(claimed)
    expect(renewed?.claims).toBe(1)
    expect(await puller.acknowledge(claimed)).toBe(false)
    clock.advance(LEASE_MS - 10_000)
    expect(await worker('w-2').claim()).toEqual([])
    expect(renewed && (await puller.acknowledge(renewed))).toBe(true)
  })

  it('of a dead letter keeps the note for a redrive', async () => {
    const { store, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    const puller = worker()
    expect(await puller.deadLetter(await one(puller.claim()), 'why', { life: 5, handlers: ['c/h'] })).toBe(true)
    expect(store.get(KEY)).toMatchObject({ failure: 'why', note: '{"life":5,"handlers":["c/h"]}' })
  })

  it('inside collect is refused, as a claim is, and changes nothing', async () => {
    const { store, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    const claimed = await one(worker().claim())
    const held = store.get(KEY)
    const puller = worker('w', { isCollecting: () => true })
    const refused = { code: 'INVALID_USE' }
    await expect(puller.claim()).rejects.toMatchObject(refused)
    await expect(puller.renew(claimed)).rejects.toMatchObject(refused)
    await expect(puller.acknowledge(claimed)).rejects.toMatchObject(refused)
    await expect(puller.fail(claimed, 'x')).rejects.toMatchObject(refused)
    await expect(puller.release(claimed)).rejects.toMatchObject(refused)
    await expect(puller.deadLetter(claimed, 'x')).rejects.toMatchObject(refused)
    expect(store.get(KEY)).toEqual(held)
  })

  it('that is not stored is an outage, not a loss', async () => {
    const { store, worker } = createPullWorld()
    store.put(pullRow(keyed('a')))
    const puller = worker()
    const claimed = await one(puller.claim())
    store.faults.push('outage', 'outage', 'outage')
    await expect(puller.acknowledge(claimed)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(await puller.acknowledge(claimed)).toBe(true)
  })
})

describe('a group', () => {
  const sequencesOf = (claims: readonly PulledEvent[]) => claims.map(({ event }) => event.sequence)

  it('gives its head only, and the next once that is acknowledged or dead', async () => {
    const { store, worker } = createPullWorld()
    for (const n of [1, 2, 3]) store.put(pullRow(numbered('g', n), { due: CREATED + n }))
    const puller = worker()
    const first = await puller.claim({ limit: 10 })
    expect(sequencesOf(first)).toEqual([1])
    expect(await puller.claim({ limit: 10 })).toEqual([])
    for (const claimed of first) await puller.acknowledge(claimed)
    const second = await puller.claim({ limit: 10 })
    expect(sequencesOf(second)).toEqual([2])
    for (const claimed of second) await puller.deadLetter(claimed, 'why')
    expect(sequencesOf(await puller.claim({ limit: 10 }))).toEqual([3])
  })

  it('waits for a head that failed, whatever the index shows first', async () => {
    const { store, clock, worker } = createPullWorld()
    for (const n of [7, 8, 9]) store.put(pullRow(numbered('g', n)))
    store.put(pullRow(numbered('g', 6), relayed))
    const puller = worker()
    await puller.fail(await one(puller.claim()), 'x')
    expect(await puller.claim({ limit: 10 })).toEqual([])
    clock.advance(5000)
    expect(sequencesOf(await puller.claim({ limit: 10 }))).toEqual([7])
  })

  it('passes rows that are dead, relayed, or a relay’s', async () => {
    const { store, worker } = createPullWorld()
    store.put(pullRow(numbered('g', 1), relayed))
    store.put(pullRow(numbered('g', 2), dead))
    store.put(pullRow(numbered('g', 3), { shard: 'p#01' }))
    store.put(pullRow(numbered('g', 4)))
    expect(sequencesOf(await worker().claim({ limit: 10 }))).toEqual([4])
  })

  it('stands still behind a row of a newer version', async () => {
    const { store, worker } = createPullWorld()
    store.put(pullRow(numbered('g', 1), { v: 2 }))
    store.put(pullRow(numbered('g', 2)))
    expect(await worker().claim({ limit: 10 })).toEqual([])
  })

  it('is not begun at a row whose predecessor a read may have missed', proves('torn-query'), async () => {
    const { store, worker } = createPullWorld()
    for (const n of [41, 42]) store.put(pullRow(numbered('g', n)))
    store.tear(rowKey(numbered('g', 41)))
    expect(await worker().claim({ limit: 10 })).toEqual([])
    store.tear(undefined)
    expect(sequencesOf(await worker().claim({ limit: 10 }))).toEqual([41])
  })

  it('begins behind what the index still shows', async () => {
    const { store, worker } = createPullWorld()
    for (let n = 1; n <= 300; n++) store.put(pullRow(numbered('g', n)))
    store.freezeIndex()
    const puller = worker()
    for (let n = 1; n <= 5; n++) {
      const claimed = await one(puller.claim())
      expect(claimed.event.sequence).toBe(n)
      await puller.acknowledge(claimed)
    }
  })

  it('of 20,000 rows costs a few reads a claim', proves('long-group'), async () => {
    const { store, worker } = createPullWorld()
    for (let n = 1; n <= 20_000; n++) store.put(pullRow(numbered('g', n), n <= 10_000 ? relayed : {}))
    const puller = worker()
    expect((await one(puller.claim())).event.sequence).toBe(10_001)
    expect(store.rowsRead()).toBeLessThan(100)
  })

  it('that waits with many rows does not hide the others of its shard', async () => {
    const { store, worker } = createPullWorld()
    const shard = String(pullRow(numbered('g', 1))['shard'])
    for (let n = 1; n <= 5000; n++) store.put(pullRow(numbered('g', n), n === 1 ? { due: CREATED + 600_000 } : {}))
    let key = 0
    while (pullRow(keyed(`k${key}`))['shard'] !== shard) key++
    store.put(pullRow(keyed(`k${key}`), { due: CREATED + 1 }))
    const puller = worker()
    const looks = []
    for (let found = 0; found === 0 && looks.length < 10; ) {
      found = (await puller.claim()).length
      looks.push(found)
    }
    expect(looks.at(-1)).toBe(1)
    expect(looks.length).toBeLessThan(8)
  })
})
