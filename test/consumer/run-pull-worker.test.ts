import { describe, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import { permanentError } from '../../src/errors.ts'
import { eventId, type Identity } from '../../src/event/identity.ts'
import { rowKey, waitingShard } from '../../src/outbox/row.ts'
import { proves } from '../cases.ts'
import { createPullKit } from '../support/pull-kit.ts'
import { keyed, numbered, pullRow } from '../support/pull-rows.ts'
import { LEASE_MS } from '../support/pull-world.ts'

type Kit = ReturnType<typeof createPullKit>

const rowOf = ({ store }: Kit, identity: Identity) => store.get(rowKey(identity))
const isRelayed = (kit: Kit, identity: Identity) => rowOf(kit, identity)?.['shard'] === undefined
const isDead = (kit: Kit, identity: Identity) => String(rowOf(kit, identity)?.['shard']).startsWith('d#')
const entryOf = ({ entries }: Kit, identity: Identity, handler: string) =>
  entries.read({ id: eventId(identity), name: `shop/${handler}` })

/** What an operator's redrive does to a row. */
const redrive = (kit: Kit, identity: Identity) => {
  const row = rowOf(kit, identity) ?? {}
  const key = rowKey(identity)
  const claims = Number(row['claims'])
  kit.store.put({ ...row, shard: waitingShard({ ...key, claims }), claims: 0, due: kit.clock.now(), redrives: 1 })
}

describe('a pull worker', () => {
  it('handles groups side by side, each in order, and relays their rows', async () => {
    const kit = createPullKit()
    const handled: string[] = []
    let most = 0
    let now = 0
    for (const group of ['a', 'b', 'c']) for (const n of [1, 2, 3, 4]) kit.store.put(pullRow(numbered(group, n)))
    for (let n = 0; n < 8; n++) kit.store.put(pullRow(keyed(`k${n}`)))
    const note = on('order.placed', 'note', async ({ key }) => {
      most = Math.max(most, ++now)
      await kit.clock.sleep(20)
      handled.push(key)
      now--
    })
    const worker = kit.start([note], { concurrency: 4 })
    await kit.until(() => handled.length === 20)
    await worker.stop()
    expect(most).toBe(4)
    for (const group of ['a', 'b', 'c'])
      expect(handled.filter((key) => key.startsWith(`${group} `))).toEqual([1, 2, 3, 4].map((n) => `${group} ${n}`))
    expect(kit.store.all().every(({ shard }) => shard === undefined)).toBe(true)
    expect(kit.counts.get('handled')).toBe(20)
  })

  it('tries a failed handler again by the ledger’s schedule; its group waits, and no claim is spent', async () => {
    const kit = createPullKit()
    const began = kit.clock.now()
    const tries: [string, number, number][] = []
    kit.store.put(pullRow(numbered('g', 1)))
    kit.store.put(pullRow(numbered('g', 2)))
    const flaky = on('order.placed', 'flaky', ({ key }, { attempt }) => {
      tries.push([key, attempt, Math.round((kit.clock.now() - began) / 1000)])
      if (key === 'g 1' && attempt < 3) throw new Error('not yet')
    })
    const worker = kit.start([flaky], { idleSeconds: 1 })
    await kit.until(() => isRelayed(kit, numbered('g', 2)))
    await worker.stop()
    expect(tries.map(([key, attempt]) => [key, attempt])).toEqual([
      ['g 1', 1],
      ['g 1', 2],
      ['g 1', 3],
      ['g 2', 1],
    ])
    expect(tries[1]?.[2]).toBeGreaterThanOrEqual(5)
    expect(tries[2]?.[2]).toBeGreaterThanOrEqual(15)
    expect(rowOf(kit, numbered('g', 1))?.['claims']).toBe(1)
  })

  it(
    'sets an event aside once its handlers have given up or ended, and its group goes on; redriven, only those run that had given up',
    proves('permanent-error', 'two-handlers-one-fails', 'dead-while-other-retries'),
    async () => {
      const kit = createPullKit()
      const ran: string[] = []
      let mended = false
      for (const n of [1, 2]) kit.store.put(pullRow(numbered('g', n)))
      const doomed = on('order.placed', 'doomed', ({ key }, { redriven }) => {
        ran.push(`doomed ${key} ${redriven}`)
        if (key === 'g 1' && !mended) throw permanentError('no such customer')
      })
      const flaky = on('order.placed', 'flaky', ({ key }, { attempt }) => {
        ran.push(`flaky ${key}`)
        if (key === 'g 1' && attempt < 2) throw new Error('not yet')
      })
      const worker = kit.start([doomed, flaky])
      await kit.until(() => isRelayed(kit, numbered('g', 2)))
      const firstRun = ['doomed g 1 false', 'flaky g 1', 'flaky g 1', 'doomed g 2 false', 'flaky g 2']
      expect(ran).toEqual(firstRun)
      expect(rowOf(kit, numbered('g', 1))).toMatchObject({ failure: 'no such customer', claims: 1 })
      expect(entryOf(kit, numbered('g', 1), 'doomed')?.status).toBe('dead')
      expect(kit.counts.get('deadLettered')).toBe(1)

      mended = true
      redrive(kit, numbered('g', 1))
      await kit.until(() => isRelayed(kit, numbered('g', 1)))
      await worker.stop()
      expect(ran.slice(firstRun.length)).toEqual(['doomed g 1 true'])
      expect(entryOf(kit, numbered('g', 1), 'doomed')?.status).toBe('done')
    },
  )

  it(
    'that dies leaves its events to another, which runs each alone; what crashed nobody has spent nothing',
    proves('crashing-neighbour'),
    async () => {
      const kit = createPullKit()
      const attempts: number[] = []
      let beside = 0
      let most = 0
      for (const key of ['a', 'b', 'c']) kit.store.put(pullRow(keyed(key)))
      // A process that is gone: its handlers never end, and nothing of it is ever written.
      const gone = new Set<string>()
      kit.start([on('order.placed', 'h', ({ key }) => new Promise(() => gone.add(key)))])
      await kit.until(() => gone.size === 3)
      const second = kit.start([
        on('order.placed', 'h', async (_, { attempt }) => {
          most = Math.max(most, ++beside)
          await kit.clock.sleep(100)
          attempts.push(attempt)
          beside--
        }),
      ])
      await kit.until(() => attempts.length === 3, 2 * LEASE_MS)
      await second.stop()
      expect(attempts).toEqual([1, 1, 1])
      expect(most).toBe(1)
      expect(kit.store.all().map(({ claims }) => claims)).toEqual([2, 2, 2])
      expect(kit.store.all().every(({ shard }) => shard === undefined)).toBe(true)
    },
  )

  it(
    'dies between the dead row and the ledger: a redrive runs the handler anew',
    proves('crash-while-dead-lettering'),
    async () => {
      const kit = createPullKit()
      let runs = 0
      kit.store.put(pullRow(keyed('a')))
      const ledger = { ...kit.ledger, bury: () => new Promise<never>(() => {}) }
      const doomed = on('order.placed', 'h', () => {
        if (++runs === 1) throw permanentError('why')
      })
      kit.start([doomed], { ledger })
      await kit.until(() => isDead(kit, keyed('a')))
      expect(entryOf(kit, keyed('a'), 'h')?.status).toBe('failed')
      redrive(kit, keyed('a'))
      const second = kit.start([doomed])
      await kit.until(() => isRelayed(kit, keyed('a')))
      await second.stop()
      expect(runs).toBe(2)
      expect(entryOf(kit, keyed('a'), 'h')).toMatchObject({ status: 'done', attempts: 0 })
    },
  )

  it(
    'runs nothing while the ledger does not answer, spends nothing, and slows down',
    proves('ledger-unreachable'),
    async () => {
      const kit = createPullKit()
      const attempts: number[] = []
      for (let n = 0; n < 50; n++) kit.store.put(pullRow(keyed(`k${n}`)))
      let down = true
      const ledger: Kit['ledger'] = {
        ...kit.ledger,
        claim: async (request) => (down ? { status: 'unavailable', reason: 'Timeout' } : kit.ledger.claim(request)),
      }
      const worker = kit.start([on('order.placed', 'h', (_, { attempt }) => void attempts.push(attempt))], { ledger })
      await kit.pass(60_000)
      expect(attempts).toEqual([])
      const changes = kit.store.calls.get('change') ?? 0
      expect(changes).toBeLessThan(2 * 25)
      down = false
      await kit.until(() => attempts.length === 50)
      await worker.stop()
      expect(new Set(attempts)).toEqual(new Set([1]))
      expect(kit.store.all().map(({ claims }) => claims)).toEqual(Array(50).fill(1))
    },
  )

  it('waits out an outage of the table', async () => {
    const kit = createPullKit()
    let handled = 0
    kit.store.put(pullRow(keyed('a')))
    kit.store.faults.push(...Array<'outage'>(12).fill('outage'))
    const worker = kit.start([on('order.placed', 'h', () => void handled++)])
    await kit.until(() => isRelayed(kit, keyed('a')))
    await worker.stop()
    expect(handled).toBe(1)
  })

  it('that is stopped claims no more and ends once its handlers have', async () => {
    const kit = createPullKit()
    const open = Promise.withResolvers<void>()
    let began = 0
    for (const n of [1, 2]) kit.store.put(pullRow(numbered('g', n)))
    const worker = kit.start([
      on('order.placed', 'h', () => {
        began++
        return open.promise
      }),
    ])
    await kit.until(() => began === 1)
    let ended = false
    const stopping = worker.stop().then(() => {
      ended = true
    })
    await kit.pass(5000)
    expect(ended).toBe(false)
    open.resolve()
    await stopping
    expect(began).toBe(1)
    expect(isRelayed(kit, numbered('g', 1))).toBe(true)
    expect(rowOf(kit, numbered('g', 2))).toEqual(pullRow(numbered('g', 2)))
  })

  it(
    'tells a handler before its lease ends, and one that goes on changes nothing afterwards',
    proves('signal-ignored'),
    async () => {
      const kit = createPullKit()
      const stuck = Promise.withResolvers<void>()
      const begun: number[] = []
      let told: number | undefined
      kit.store.put(pullRow(keyed('a')))
      const handler = on('order.placed', 'h', async (_, { signal }) => {
        begun.push(kit.clock.now())
        if (begun.length > 1) return
        signal.addEventListener('abort', () => (told = kit.clock.now()))
        await stuck.promise
      })
      const first = kit.start([handler])
      await kit.until(() => told !== undefined, LEASE_MS)
      const second = kit.start([handler])
      await kit.until(() => begun.length === 2 && isRelayed(kit, keyed('a')), 2 * LEASE_MS)
      const done = entryOf(kit, keyed('a'), 'h')
      expect((begun[1] ?? 0) - (told ?? 0)).toBeGreaterThanOrEqual(2000)
      stuck.resolve()
      await Promise.all([first.stop(), second.stop()])
      expect(entryOf(kit, keyed('a'), 'h')).toEqual(done)
      expect(kit.counts.get('handled')).toBe(1)
    },
  )

  it('refuses what would go wrong later', async () => {
    const kit = createPullKit()
    const handlers = [on('t', 'h', () => {}, { maxAttempts: 10 })]
    const start = (more: object) => kit.start(handlers, more).ended
    await expect(start({ pull: kit.worker('w', { maxClaims: 11 }) })).rejects.toThrow('at least 12 maxClaims')
    await expect(start({ pull: {} })).rejects.toThrow('must be made by outbox.pull')
    await expect(start({ concurrency: 0 })).rejects.toMatchObject({ code: 'INVALID_SETTING' })
    await expect(start({ workers: 1 })).rejects.toThrow('"workers"')
  })
})
