import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../src/clock.ts'

describe('systemClock.sleep', () => {
  it('sleeps for the time given', async () => {
    const started = performance.now()
    await systemClock.sleep(20)
    expect(performance.now() - started).toBeGreaterThanOrEqual(18)
  })

  it('rejects with the reason of its signal, at once, and leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    const reason = new Error('enough')
    const controller = new AbortController()
    const sleeping = expect(systemClock.sleep(60_000, controller.signal)).rejects.toBe(reason)
    expect(timers()).toBe(before + 1)
    controller.abort(reason)
    await sleeping
    expect(timers()).toBe(before)
    await expect(systemClock.sleep(60_000, controller.signal)).rejects.toBe(reason)
  })

  it('listens to its signal no longer once it is over', async () => {
    const { signal } = new AbortController()
    const sleeping = systemClock.sleep(1, signal)
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await sleeping
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })
})
