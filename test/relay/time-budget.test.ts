import { describe, expect, it } from 'vitest'
import { createTimeBudget } from '../../src/relay/time-budget.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'

const never = () => new Promise<never>(() => {})

describe('createTimeBudget', () => {
  it('is over five seconds before the end, or at three quarters of a short time', async () => {
    const clock = createManualClock()
    const [long, short] = [createTimeBudget(clock, 60_000), createTimeBudget(clock, 4_000)]
    await clock.advance(2_999)
    expect(short.over()).toBe(false)
    await clock.advance(1)
    expect([short.over(), long.over()]).toEqual([true, false])
    await clock.advance(52_000)
    expect(long.over()).toBe(true)
  })

  it('lets a call take five seconds, or half of the time left, and aborts its signal then', async () => {
    const clock = createManualClock()
    const budget = createTimeBudget(clock, 60_000)
    let aborted: unknown
    const call = budget.call((signal) => {
      signal.addEventListener('abort', () => {
        aborted = signal.reason
      })
      return never()
    })
    const outcome = expect(call).rejects.toMatchObject({ name: 'TimeoutError', message: 'no answer within 5000 ms' })
    await clock.advance(5_000)
    await outcome
    expect(aborted).toMatchObject({ name: 'TimeoutError' })

    await clock.advance(54_000)
    const last = expect(budget.call(never)).rejects.toMatchObject({ message: 'no answer within 500 ms' })
    await clock.advance(500)
    await last
  })

  it('gives the answer, or the error, and leaves no timer behind', async () => {
    const clock = createManualClock()
    const budget = createTimeBudget(clock, 60_000)
    expect(await budget.call(async () => 5)).toBe(5)
    await expect(budget.call(async () => Promise.reject(new Error('x')))).rejects.toThrow('x')
    expect(clock.sleepers()).toBe(0)
  })
})
