import { describe, expect, it } from 'vitest'
import { retryBackoff } from '../src/backoff.ts'

describe('retryBackoff', () => {
  it('doubles from the first delay to the cap', () => {
    expect([1, 2, 3, 6, 7, 8, 1000].map((attempts) => retryBackoff(attempts))).toEqual([5, 10, 20, 160, 300, 300, 300])
    expect(retryBackoff(18, { firstSeconds: 1, capSeconds: 86_400 })).toBe(86_400)
  })

  it('is a delay for any count that a queue may give', () => {
    expect(retryBackoff(5000, { firstSeconds: 0, capSeconds: 300 })).toBe(0)
    expect(retryBackoff(5000, { firstSeconds: 5, capSeconds: 300 })).toBe(300)
  })
})
