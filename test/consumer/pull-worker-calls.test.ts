import { describe, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import type { HandlerContext } from '../../src/consumer/handler-context.ts'
import { runPullWorker } from '../../src/consumer/run-pull-worker.ts'
import type { ClaimOutcome } from '../../src/ledger/ledger.ts'
import type { Puller } from '../../src/outbox/create-puller.ts'
import type { PulledEvent } from '../../src/outbox/pull-claim.ts'
import { createPullKit } from '../support/pull-kit.ts'

const LEASE_MS = 60_000

/** A worker on pulls that are told what to give, and which record what they are told. */
function createWorker(handle: (context: HandlerContext, key: string) => unknown, leaseSeconds = LEASE_MS / 1000) {
  const kit = createPullKit()
  const { clock, ledger } = kit
  const calls: (readonly unknown[])[] = []
  const looks: (readonly PulledEvent[] | Error)[] = []
  const limits: number[] = []
  const claims = new Map<string, ClaimOutcome[]>()
  const pulled = (key: string): PulledEvent => ({
    event: { id: key, source: 'shop', key, type: 't', time: '', data: null, headers: {}, life: 1 },
    claims: 1,
    lease: clock.now() + leaseSeconds * 1000,
    hold: { key: { pk: key, sk: '-' }, shard: 'w#shop#0', token: 'w', lease: 0, claims: 1 },
  })
  const pull: Puller = {
    source: 'shop',
    leaseSeconds,
    maxClaims: 20,
    claim: async ({ limit = 1 } = {}) => {
      limits.push(limit)
      const look = looks.shift() ?? []
      if (look instanceof Error) throw look
      return look
    },
    renew: async (one) => {
      calls.push(['renew', one.event.id])
      return { ...one, lease: clock.now() + leaseSeconds * 1000 }
    },
    acknowledge: async (one) => calls.push(['acknowledge', one.event.id]) > 0,
    release: async (one, due) => calls.push(['release', one.event.id, (due ?? 0) - clock.now()]) > 0,
    fail: async () => ({ status: 'lost' }),
    deadLetter: async (one) => calls.push(['deadLetter', one.event.id]) > 0,
  }
  const scripted = {
    ...ledger,
    claim: async (request: Parameters<typeof ledger.claim>[0]) =>
      claims.get(request.id)?.shift() ?? ledger.claim(request),
  }
  const handler = on('t', 'h', ({ key }, context) => handle(context, key))
  const start = (more: object = {}) => kit.start([handler], { pull, ledger: scripted, ...more })
  return { ...kit, calls, looks, limits, claims, pulled, pull, scripted, handler, start }
}

describe('what a pull worker asks for', () => {
  it('is as much as it has room for, and nothing while it is full', async () => {
    const open = Promise.withResolvers<void>()
    const worker = createWorker(() => open.promise)
    worker.looks.push([worker.pulled('a')], [worker.pulled('b'), worker.pulled('c')])
    const started = worker.start({ concurrency: 3 })
    await worker.pass(10_000)
    expect(worker.limits).toEqual([3, 2])
    open.resolve()
    await worker.until(() => worker.calls.length === 3)
    await worker.until(() => worker.limits.length > 2)
    expect(worker.limits[2]).toBe(3)
    await started.stop()
  })

  it('is less and less often something while nothing is due, and while the table does not answer', async () => {
    for (const look of [[], new RangeError('secret')]) {
      const worker = createWorker(() => {})
      worker.looks.push(...Array<typeof look>(200).fill(look))
      const started = worker.start({ idleSeconds: 2 })
      await worker.pass(20_000)
      expect(worker.limits.length).toBeGreaterThan(10)
      expect(worker.limits.length).toBeLessThan(25)
      const lines = worker.lines.filter(({ message }) => message === 'nothing claimed')
      expect(lines).toEqual(
        look instanceof Error
          ? Array(worker.limits.length).fill({ message: 'nothing claimed', fields: { reason: 'RangeError' } })
          : [],
      )
      await started.stop()
    }
  })

  it('is one event while the ledger does not answer, and all again once it does', async () => {
    const worker = createWorker(() => {})
    const out: ClaimOutcome = { status: 'unavailable', reason: 'x' }
    worker.claims.set('a', [out]).set('b', [out])
    worker.looks.push([worker.pulled('a')], [worker.pulled('b')], [worker.pulled('c')])
    const started = worker.start({ concurrency: 5 })
    await worker.until(() => worker.limits.length > 3)
    expect(worker.limits.slice(0, 4)).toEqual([5, 1, 1, 5])
    // Each outage in a row defers longer: 5 s, 10 s.
    expect(worker.calls).toEqual([
      ['release', 'a', 5000],
      ['release', 'b', 10_000],
      ['acknowledge', 'c'],
    ])
    expect(worker.counts.get('ledgerUnavailable')).toBe(2)
    await started.stop()
  })
})

describe('what a pull worker does', () => {
  it('gives its outbox to the handlers’ commits', async () => {
    const worker = createWorker(({ commit }) =>
      commit([], { events: [{ source: 'shop', type: 'u', key: 'k', data: 1 }] }),
    )
    worker.looks.push([worker.pulled('a')])
    const requests: unknown[] = []
    const outbox = {
      ...worker.ledger.committer,
      commit: async (request: { events: readonly unknown[] }) => {
        requests.push(...request.events)
        return { status: 'committed' as const, events: [] }
      },
    }
    const started = worker.start({ outbox })
    await worker.until(() => worker.calls.length > 0)
    await started.stop()
    expect([requests.length, worker.calls]).toEqual([1, [['acknowledge', 'a']]])
  })

  it('gives back at once what it was handed while it is being stopped', async () => {
    const worker = createWorker(() => {})
    const stop = new AbortController()
    const claim = async () => {
      stop.abort()
      return [worker.pulled('a')]
    }
    await runPullWorker({
      name: 'shop',
      pull: { ...worker.pull, claim },
      ledger: worker.ledger,
      handlers: [worker.handler],
      clock: worker.clock,
      signal: stop.signal,
    })
    expect(worker.calls).toEqual([['release', 'a', 0]])
  })

  it('runs lapsed claims alone with a lease of full length, those last that crashed the process before', async () => {
    const order: string[] = []
    const worker = createWorker((_, key) => void order.push(key))
    const wait = (crashes: number): ClaimOutcome => ({ status: 'wait-alone', crashes })
    worker.claims.set('bad', [wait(2)]).set('neighbour', [wait(0)])
    worker.looks.push([worker.pulled('bad'), worker.pulled('neighbour'), worker.pulled('well')])
    const started = worker.start()
    await worker.until(() => worker.calls.length >= 5)
    await started.stop()
    expect(order).toEqual(['well', 'neighbour', 'bad'])
    expect(worker.calls).toEqual([
      ['acknowledge', 'well'],
      ['renew', 'neighbour'],
      ['acknowledge', 'neighbour'],
      ['renew', 'bad'],
      ['acknowledge', 'bad'],
    ])
  })

  it('gives a lapsed claim back that it cannot renew, and one that must still wait', async () => {
    const worker = createWorker(() => {})
    const wait: ClaimOutcome = { status: 'wait-alone', crashes: 1 }
    worker.claims.set('a', [wait]).set('b', [wait]).set('c', [wait, wait])
    const { renew } = worker.pull
    const pull: Puller = {
      ...worker.pull,
      renew: async (one) => {
        if (one.event.id === 'a') return undefined
        if (one.event.id === 'b') throw new Error('no table')
        return renew(one)
      },
    }
    worker.looks.push(['a', 'b', 'c'].map(worker.pulled))
    const started = worker.start({ pull })
    await worker.until(() => worker.calls.length >= 4)
    await started.stop()
    expect(worker.calls).toEqual([
      ['release', 'a', 0],
      ['release', 'b', 0],
      ['renew', 'c'],
      ['release', 'c', 0],
    ])
  })

  it('tells a handler two seconds before its lease ends that it is to end, or a fifth of a short lease', async () => {
    for (const [leaseSeconds, margin] of [
      [60, 2000],
      [5, 1000],
    ] as const) {
      let told: number | undefined
      const worker = createWorker(({ signal }) => {
        const began = worker.clock.now()
        return new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => {
            told = worker.clock.now() - began
            resolve()
          }),
        )
      }, leaseSeconds)
      worker.looks.push([worker.pulled('a')])
      const started = worker.start()
      await worker.until(() => told !== undefined, leaseSeconds * 1000)
      await started.stop()
      const whole = leaseSeconds * 1000 - margin
      expect(told).toBeCloseTo(whole - Math.min(1000, whole / 5), -2)
    }
  })

  it('leaves no timer behind', async () => {
    const worker = createWorker(() => {})
    worker.looks.push([worker.pulled('a')])
    const started = worker.start()
    await worker.until(() => worker.calls.length > 0)
    await started.stop()
    expect(worker.clock.sleepers()).toBe(0)
  })
})
