import { describe, expect, it } from 'vitest'
import { HEARTBEAT_PK } from '../../src/relay/row-store.ts'
import { beginRun } from '../../src/relay/run.ts'
import { sweep } from '../../src/relay/sweep.ts'
import { proves } from '../cases.ts'
import { arrivals } from '../support/fake-queue.ts'
import { deadRow, keyOfRow, orderedRow, REGION, relayedRow, stateOf, unorderedRow } from '../support/outbox-rows.ts'
import { createRelayWorld, driven, type RelayWorld, records } from '../support/relay-world.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n)
const events = (world: RelayWorld) => world.store.all().filter((row) => row['pk']?.S !== HEARTBEAT_PK)
const pending = (world: RelayWorld) => events(world).filter((row) => stateOf(row) === 'pending').length
const dayAgo = 1_700_000_000_000 - 24 * HOUR

describe('what the sweeper takes', () => {
  it('leaves rows alone during their grace, and sends them after it', proves('grace-period'), async () => {
    const world = createRelayWorld()
    world.store.put(unorderedRow('a'))
    world.store.put(orderedRow('g', 1))
    expect(await world.sweep()).toMatchObject({ pending: 2, relayed: 0 })
    expect(world.queue.requests).toEqual([])
    await world.clock.advance(2 * MINUTE)
    expect(await world.sweep()).toMatchObject({ pending: 2, relayed: 2, timeIsUp: false, paused: [] })
    expect(pending(world)).toBe(0)
    expect(world.counts.get('swept')).toBe(2)
  })

  it(
    'sends a row whose relay died after sending, before marking, without a second effect',
    proves('relay-dies-before-marking'),
    async () => {
      const world = createRelayWorld()
      world.store.fail('markRelayed')
      await world.relay([unorderedRow('a'), orderedRow('g', 1)])
      expect(pending(world)).toBe(2)
      world.store.mend()
      await world.clock.advance(2 * MINUTE)
      await world.sweep()
      expect(pending(world)).toBe(0)
      expect(world.queue.accepted).toHaveLength(4)
      expect(world.queue.delivered).toHaveLength(2)
    },
  )

  it('counts a due more than 25 hours ahead as due, also behind a full look', async () => {
    const world = createRelayWorld()
    const far = world.clock.now() + 26 * HOUR
    const one = unorderedRow('far', { due: far, shard: 'p#07' })
    world.store.put(one)
    for (const n of range(1, 600))
      world.store.put(unorderedRow(`k${n}`, { due: world.clock.now() + MINUTE, shard: 'p#07' }))
    await world.sweep()
    expect(stateOf(world.store.get(keyOfRow(one)))).toBe('relayed')
    expect(world.queue.accepted).toHaveLength(1)
  })

  it('leaves the rows of another Region and of pull workers', async () => {
    const world = createRelayWorld()
    world.store.put(unorderedRow('a', { created: dayAgo, region: 'eu-west-1' }))
    world.store.put(unorderedRow('b', { created: dayAgo, shard: 'w#shop#0' }))
    await world.sweep()
    expect(world.queue.requests).toEqual([])
    expect(world.store.calls.get('deadLetter')).toBeUndefined()
  })

  it('dead-letters a row that cannot be understood alone; its page goes on', proves('undecodable-row'), async () => {
    const world = createRelayWorld()
    for (const n of range(1, 60))
      world.store.put(
        unorderedRow(`k${n}`, { created: dayAgo, ...(n === 30 ? { extra: { accepted: { S: 'x' } } } : {}) }),
      )
    expect(await world.sweep()).toMatchObject({ relayed: 59, dead: 1 })
  })

  it('heals a deploy in the wrong order: a row without a route stays, and goes once there is one', async () => {
    const world = createRelayWorld({ routes: (queue) => [{ source: 'other', to: queue }] })
    world.store.put(unorderedRow('a', { created: dayAgo }))
    await world.sweep()
    expect(pending(world)).toBe(1)
    expect(world.counts.get('unroutedRows')).toBe(1)
    const routed = createRelayWorld()
    routed.store.put(unorderedRow('a', { created: dayAgo }))
    await routed.sweep()
    expect(pending(routed)).toBe(0)
  })
})

describe('groups in a sweep', () => {
  it('begins at the lowest pending row, though the index shows only a later one', async () => {
    const world = createRelayWorld()
    for (const n of range(1, 4)) world.store.put(relayedRow(orderedRow('g', n)))
    // The clock of the writer of 5 to 7 was ahead: their due comes later than that of row 9. Number 8 was never used.
    for (const n of range(5, 7)) world.store.put(orderedRow('g', n, { created: world.clock.now() + HOUR }))
    world.store.put(orderedRow('g', 9, { created: dayAgo }))
    await world.sweep()
    expect(arrivals(world.queue, 'shop/g')).toEqual([5, 6, 7, 9])
  })

  it('sends a redriven row below the tail first, and does not read the relayed rows between', async () => {
    const world = createRelayWorld()
    for (const n of range(1, 3000)) world.store.put(relayedRow(orderedRow('g', n)))
    world.store.put(orderedRow('g', 40, { created: dayAgo, redrives: 1 }))
    for (const n of range(3001, 3003)) world.store.put(orderedRow('g', n, { created: dayAgo }))
    await world.sweep()
    expect(arrivals(world.queue, 'shop/g')).toEqual([40, 3001, 3002, 3003])
    expect(world.queue.delivered[0]?.deduplicationId).toMatch(/-r1$/)
    expect(world.store.rowsRead.get('readGroup')).toBeLessThan(100)
  })
})

describe('a backlog and outages', () => {
  it('drains what many looks show within one run, and gives each row to the queue once', async () => {
    const world = createRelayWorld()
    for (const n of range(1, 5000)) world.store.put(unorderedRow(`k${n}`, { created: dayAgo, shard: `p#0${n % 3}` }))
    expect(await world.sweep()).toMatchObject({ relayed: 5000, timeIsUp: false, pending: 1500 })
    expect(world.queue.accepted).toHaveLength(5000)
  })

  it(
    'spends nothing and writes nothing while SQS is down for an hour, and delivers everything after',
    proves('sqs-down-for-an-hour', 'outage-of-permission'),
    async () => {
      const world = createRelayWorld()
      world.queue.outage = 'ServiceUnavailable'
      await world.relay([
        ...range(1, 200).map((n) => unorderedRow(`k${n}`)),
        ...range(1, 50).map((n) => orderedRow('g', n)),
      ])
      const before = JSON.stringify(events(world))
      for (const outage of [
        'ServiceUnavailable',
        'AccessDenied',
        'KmsDisabled',
        'QueueDoesNotExist',
        'TimeoutError',
        'RequestThrottled',
      ]) {
        await world.clock.advance(10 * MINUTE)
        world.queue.outage = outage
        const requests = world.queue.requests.length
        expect(await world.sweep()).toMatchObject({ paused: ['queue'], relayed: 0 })
        expect(world.queue.requests.length - requests).toBeLessThanOrEqual(20)
      }
      expect(JSON.stringify(events(world))).toBe(before)
      world.queue.outage = undefined
      await world.sweep()
      expect(pending(world)).toBe(0)
      expect(world.queue.delivered).toHaveLength(250)
      expect(arrivals(world.queue, 'shop/g')).toEqual(range(1, 50))
    },
  )

  it('goes on next minute after it was killed in mid-page, with nothing spent', proves('sweeper-killed'), async () => {
    const world = createRelayWorld()
    for (const n of range(1, 300)) world.store.put(unorderedRow(`k${n}`, { created: dayAgo }))
    for (const n of range(1, 40)) world.store.put(orderedRow('g', n, { created: dayAgo }))
    const killed = Promise.withResolvers<void>()
    let requests = 0
    world.queue.before = async () => {
      if (++requests < 12) return
      killed.resolve()
      await new Promise(() => {})
    }
    void sweep(beginRun(world.deps, MINUTE), REGION).catch(() => {})
    await killed.promise
    const untouched = events(world).filter((row) => stateOf(row) === 'pending')
    expect(untouched.length).toBeGreaterThan(100)
    expect(untouched.every((row) => row['redrives'] === undefined && row['accepted'] === undefined)).toBe(true)
    world.queue.before = async () => {}
    await world.sweep()
    expect(pending(world)).toBe(0)
    expect(new Set(world.queue.delivered.map(({ deduplicationId }) => deduplicationId)).size).toBe(340)
    expect(arrivals(world.queue, 'shop/g')).toEqual(range(1, 40))
  })

  it('stops near the end of its time and says so; the next run goes on', async () => {
    const world = createRelayWorld()
    for (const n of range(1, 2000)) world.store.put(unorderedRow(`k${n}`, { created: dayAgo }))
    world.queue.before = () => world.clock.sleep(2000)
    const start = world.clock.now()
    expect(await world.sweep({ remainingMs: 20_000 })).toMatchObject({ timeIsUp: true })
    expect(world.clock.now() - start).toBeLessThan(20_000)
    world.queue.before = async () => {}
    expect(await world.sweep()).toMatchObject({ timeIsUp: false })
    expect(pending(world)).toBe(0)
  })

  it('begins with another shard each minute, so that rows that keep failing do not stand before all others', async () => {
    const world = createRelayWorld()
    const poison = range(1, 30).map((n) => unorderedRow(`bad${n}`, { created: dayAgo, shard: 'p#00', type: 'bad' }))
    for (const row of [
      ...poison,
      ...range(1, 30).map((n) => unorderedRow(`k${n}`, { created: dayAgo, shard: 'p#30' })),
    ])
      world.store.put(row)
    world.queue.fails = ({ type }) => (type === 'bad' ? 'SomethingNew' : undefined)
    for (let run = 0; run < 64; run += 1) {
      await world.sweep()
      await world.clock.advance(MINUTE)
    }
    expect(pending(world)).toBe(30)
  })

  it(
    'keeps the order with several relays and sweepers at once, and the queue removes the duplicates',
    proves('many-relays-at-once'),
    async () => {
      const world = createRelayWorld()
      const rows = range(1, 120).flatMap((n) =>
        ['a', 'b', 'c'].map((group) => orderedRow(group, n, { created: dayAgo })),
      )
      for (const row of rows) world.store.put(row)
      const started = records(rows.slice(0, 200))
      let ticks = 0
      world.queue.before = () => world.clock.sleep((++ticks * 7) % 40)
      await Promise.all([
        driven(world.clock, sweep(beginRun(world.deps, MINUTE), REGION)),
        driven(world.clock, sweep(beginRun(world.deps, MINUTE), REGION)),
        world.relayRecords(started),
        world.relayRecords([...started].reverse()),
      ])
      for (const group of ['a', 'b', 'c']) expect(arrivals(world.queue, `shop/${group}`)).toEqual(range(1, 120))
      expect(pending(world)).toBe(0)
    },
  )
})

describe('what the sweeper tells', () => {
  it(
    'emits the age of the oldest pending row by its creation, and how many there are',
    proves('oldest-pending-age'),
    async () => {
      const world = createRelayWorld()
      world.queue.outage = 'ServiceUnavailable'
      world.store.put(unorderedRow('old', { created: dayAgo, due: world.clock.now() + MINUTE }))
      world.store.put(unorderedRow('new'))
      const now = world.clock.now()
      expect(await world.sweep()).toMatchObject({ pending: 2 })
      expect(world.counts.get('pendingRows')).toBe(2)
      expect(world.counts.get('oldestPendingMs')).toBeGreaterThanOrEqual(now - dayAgo)
      expect(world.counts.get('oldestPendingMs')).toBeLessThan(now - dayAgo + 1000)
    },
  )

  it('says zero when nothing waits', async () => {
    const world = createRelayWorld()
    expect(await world.sweep()).toMatchObject({ pending: 0, oldestPendingMs: 0 })
    expect(world.counts.get('oldestPendingMs')).toBe(0)
    expect(world.store.calls.get('readIndex')).toBe(64)
  })

  it('counts dead rows at its first run and then each quarter of an hour', async () => {
    const world = createRelayWorld()
    for (const n of range(1, 3)) world.store.put(deadRow(unorderedRow(`k${n}`)))
    expect(await world.sweep()).toMatchObject({ deadTotal: 3 })
    for (const _ of range(1, 14)) {
      await world.clock.advance(MINUTE)
      expect(await world.sweep()).not.toHaveProperty('deadTotal')
    }
    await world.clock.advance(MINUTE)
    expect(await world.sweep()).toMatchObject({ deadTotal: 3 })
  })

  it('writes a heartbeat that no index shows and that never expires', async () => {
    const world = createRelayWorld()
    await world.sweep()
    const beat = world.store.get({ pk: HEARTBEAT_PK, sk: REGION })
    expect(Number(beat?.['at']?.N)).toBeLessThanOrEqual(world.clock.now())
    expect(Object.keys(beat ?? {}).sort()).toEqual([
      'at',
      'dead',
      'deadCountedAt',
      'oldestPendingMs',
      'pending',
      'pk',
      'sk',
    ])
  })

  it('fails, having done the rest, when the index cannot be read; it gives no age and no heartbeat then', async () => {
    const world = createRelayWorld()
    world.store.fail('readIndex')
    await expect(world.sweep()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(world.counts.has('oldestPendingMs')).toBe(false)
    expect(world.store.calls.get('writeHeartbeat')).toBeUndefined()
  })

  it('fails when rows cannot be read, and relays them next time', async () => {
    const world = createRelayWorld()
    world.store.put(unorderedRow('a', { created: dayAgo }))
    world.store.put(orderedRow('g', 1, { created: dayAgo }))
    world.store.fail('readRows')
    world.store.fail('readGroup')
    await expect(world.sweep()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    world.store.mend()
    expect(await world.sweep()).toMatchObject({ relayed: 2 })
  })

  it('does not fail for its heartbeat', async () => {
    const world = createRelayWorld()
    world.store.fail('writeHeartbeat')
    await world.sweep()
    expect(world.log.some(({ level, message }) => level === 'warn' && message.includes('heartbeat'))).toBe(true)
  })
})
