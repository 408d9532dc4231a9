import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { isOutboxError } from '../../src/errors.ts'
import { scaledClock } from '../../src/testing/scaled-clock.ts'

describe('scaled clock', () => {
  it('runs as many times faster as told, from the moment both clocks agree', () => {
    const origin = Date.now() - 1000
    const before = Date.now()
    const now = scaledClock({ speed: 60, origin }).now()
    const after = Date.now()
    expect(now).toBeGreaterThanOrEqual(origin + (before - origin) * 60)
    expect(now).toBeLessThanOrEqual(origin + (after - origin) * 60)
  })

  it('sleeps in its own time', async () => {
    const clock = scaledClock({ speed: 1000, origin: Date.now() })
    const began = performance.now()
    await clock.sleep(20_000)
    expect(performance.now() - began).toBeLessThan(2000)
    expect(performance.now() - began).toBeGreaterThanOrEqual(15)
  })

  it("rejects a sleep with the signal's reason", async () => {
    const clock = scaledClock({ speed: 2, origin: 0 })
    await expect(clock.sleep(60_000, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  })

  it("is the machine's own clock at speed 1, and refuses a speed that is none", () => {
    expect(scaledClock({ speed: 1, origin: 5 })).toBe(systemClock)
    for (const speed of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
      const attempt = (): unknown => scaledClock({ speed, origin: 0 })
      expect(attempt).toThrow(expect.toSatisfy((error) => isOutboxError(error, 'INVALID_SETTING')))
    }
  })
})
