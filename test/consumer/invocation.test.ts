import { describe, expect, it } from 'vitest'
import { beginInvocation, isTimeEnough } from '../../src/consumer/invocation.ts'
import { secondsUntil } from '../../src/consumer/visibility.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'

const begin = (left: number, leaseSeconds?: number) => {
  const clock = createManualClock(0)
  const context = { getRemainingTimeInMillis: () => left }
  const invocation = beginInvocation({ clock, context, ...(leaseSeconds === undefined ? {} : { leaseSeconds }) })
  return { clock, invocation }
}

describe('the time of an invocation', () => {
  it('sets the lease two seconds after its end, or later if told so, never earlier', () => {
    expect(begin(30_000).invocation.lease).toBe(32_000)
    expect(begin(30_000, 60).invocation.lease).toBe(60_000)
    expect(begin(30_000, 10).invocation.lease).toBe(32_000)
  })

  it('keeps a second for its end, or a fifth of a short one', () => {
    expect(begin(30_000).invocation.deadline).toBe(29_000)
    expect(begin(1000).invocation.deadline).toBe(800)
  })

  it('leaves no timer behind', () => {
    const { clock, invocation } = begin(30_000)
    expect(clock.sleepers()).toBe(1)
    invocation.end()
    expect(clock.sleepers()).toBe(0)
    expect(invocation.signal.aborted).toBe(false)
  })

  it('measures by the longest run, also one that fails', async () => {
    const { clock, invocation } = begin(30_000)
    await invocation.measure(() => clock.advance(10_000))
    expect(invocation.hasTime(false)).toBe(true)
    await expect(
      invocation.measure(async () => {
        await clock.advance(11_000)
        throw new Error('broken')
      }),
    ).rejects.toThrow('broken')
    expect(invocation.hasTime(false)).toBe(false)
  })
})

describe('beginning a handler', () => {
  const whole = 30_000
  const time = { left: whole, whole, reserve: 1000, longest: 0, alone: false, reserved: false }

  it('needs one and a half times the longest run so far', () => {
    expect(isTimeEnough({ ...time, left: 7001, longest: 4000 })).toBe(true)
    expect(isTimeEnough({ ...time, left: 7000, longest: 4000 })).toBe(false)
  })

  it('alone needs half of the invocation', () => {
    expect(isTimeEnough({ ...time, left: 15_000, alone: true })).toBe(true)
    expect(isTimeEnough({ ...time, left: 14_999, alone: true })).toBe(false)
  })

  it('beside others leaves half to what waits to run alone', () => {
    expect(isTimeEnough({ ...time, left: 16_000, reserved: true })).toBe(true)
    expect(isTimeEnough({ ...time, left: 15_000, reserved: true })).toBe(false)
    expect(isTimeEnough({ ...time, left: 15_000, reserved: true, alone: true })).toBe(true)
  })
})

describe('visibility', () => {
  it('is in whole seconds, rounded up, never negative, and within what SQS allows', () => {
    expect(secondsUntil(1001, 0)).toBe(2)
    expect(secondsUntil(1000, 0)).toBe(1)
    expect(secondsUntil(0, 5000)).toBe(0)
    expect(secondsUntil(86_400_000, 0)).toBe(42_200)
  })
})
