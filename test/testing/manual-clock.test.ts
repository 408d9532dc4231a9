import { describe, expect, it } from 'vitest'
import { createManualClock } from '../../src/testing/manual-clock.ts'

describe('manual clock', () => {
  it('stands still until it is advanced', async () => {
    const clock = createManualClock(1000)
    expect(clock.now()).toBe(1000)
    await clock.advance(250)
    expect(clock.now()).toBe(1250)
  })

  it('wakes each sleeper at its own moment, in order, and those they start', async () => {
    const clock = createManualClock(0)
    const log: string[] = []
    const nap = async (name: string, ms: number): Promise<void> => {
      await clock.sleep(ms)
      log.push(`${name}@${clock.now()}`)
    }
    void nap('late', 300)
    void nap('early', 100).then(() => nap('started', 50))
    await clock.advance(200)
    expect(log).toEqual(['early@100', 'started@150'])
    expect(clock.sleepers()).toBe(1)
    expect(clock.nextWake()).toBe(300)
    await clock.advance(100)
    expect(log).toEqual(['early@100', 'started@150', 'late@300'])
  })

  it('rejects a sleep whose signal aborts, and forgets it', async () => {
    const clock = createManualClock()
    const abort = new AbortController()
    const asleep = clock.sleep(1000, abort.signal)
    abort.abort(new Error('enough'))
    await expect(asleep).rejects.toThrow('enough')
    expect(clock.sleepers()).toBe(0)
    await expect(clock.sleep(1, AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
  })

  it('gives ids that count and a random number that never changes', () => {
    const clock = createManualClock()
    expect([clock.id(), clock.id()]).toEqual([
      '00000000-0000-4000-8000-000000000001',
      '00000000-0000-4000-8000-000000000002',
    ])
    expect([clock.random(), clock.random()]).toEqual([0.5, 0.5])
  })
})
