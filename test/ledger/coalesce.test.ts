import { afterEach, describe, expect, it, vi } from 'vitest'
import { coalesce } from '../../src/ledger/coalesce.ts'

type Job = { readonly key: string; readonly n: number }

const setup = (send?: (jobs: readonly Job[]) => Promise<readonly number[]>) => {
  const requests: (readonly Job[])[] = []
  const call = coalesce<Job, number>({
    maxJobs: 25,
    keyOf: ({ key }) => key,
    send: async (jobs) => {
      requests.push(jobs)
      return send === undefined ? jobs.map(({ n }) => n * 2) : send(jobs)
    },
  })
  return { call, requests }
}
const job = (n: number, key = `k${n}`): Job => ({ key, n })

describe('coalescing', () => {
  afterEach(() => void vi.useRealTimers())

  it('sends in one request what one turn of the event loop brings, however many promises deep', async () => {
    const { call, requests } = setup()
    const deep = async (n: number, depth: number): Promise<number> => {
      for (let i = 0; i < depth; i++) await undefined
      return call(job(n))
    }
    expect(await Promise.all(Array.from({ length: 10 }, (_, n) => deep(n, n * 3)))).toEqual([
      0, 2, 4, 6, 8, 10, 12, 14, 16, 18,
    ])
    expect(requests).toHaveLength(1)
  })

  it('gathers what arrives while a request is in flight', async () => {
    const gate = Promise.withResolvers<void>()
    const { call, requests } = setup(async (jobs) => {
      await gate.promise
      return jobs.map(({ n }) => n)
    })
    const first = call(job(1))
    await new Promise((resolve) => setImmediate(resolve))
    const others: Promise<number>[] = []
    for (let n = 2; n <= 6; n++) {
      others.push(call(job(n)))
      await new Promise((resolve) => setImmediate(resolve))
    }
    gate.resolve()
    expect(await Promise.all([first, ...others])).toEqual([1, 2, 3, 4, 5, 6])
    expect(requests.map((jobs) => jobs.length)).toEqual([1, 5])
  })

  it('splits at the most a request takes', async () => {
    const { call, requests } = setup()
    await Promise.all(Array.from({ length: 60 }, (_, n) => call(job(n))))
    expect(requests.map((jobs) => jobs.length)).toEqual([25, 25, 10])
  })

  it('never sends two jobs of one key together, and keeps their order', async () => {
    const { call, requests } = setup()
    await Promise.all([call(job(1, 'a')), call(job(2, 'a')), call(job(3, 'b')), call(job(4, 'a'))])
    expect(requests.map((jobs) => jobs.map(({ n }) => n))).toEqual([[1, 3], [2], [4]])
  })

  it('rejects each job of a request that fails, and goes on with the next', async () => {
    let failing = true
    const { call } = setup(async (jobs) => {
      if (failing) throw new Error('down')
      return jobs.map(({ n }) => n)
    })
    expect((await Promise.allSettled([call(job(1)), call(job(2))])).map(({ status }) => status)).toEqual([
      'rejected',
      'rejected',
    ])
    failing = false
    expect(await call(job(3))).toBe(3)
  })

  it('rejects a job that the answer leaves out', async () => {
    const { call } = setup(async () => [7])
    const [first, second] = await Promise.allSettled([call(job(1)), call(job(2))])
    expect(first).toEqual({ status: 'fulfilled', value: 7 })
    expect(second).toMatchObject({ reason: { message: expect.stringContaining('without an answer') } })
  })

  it('rests once every job is answered', async () => {
    vi.useFakeTimers({ toFake: ['setImmediate'] })
    const { call } = setup()
    const answers = Promise.all([call(job(1, 'a')), call(job(2, 'a'))])
    await vi.runAllTimersAsync()
    expect(await answers).toEqual([2, 4])
    expect(vi.getTimerCount()).toBe(0)
  })
})
