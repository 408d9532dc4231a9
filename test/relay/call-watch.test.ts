import { describe, expect, it } from 'vitest'
import { createCallWatch } from '../../src/relay/call-watch.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'

const never = () => new Promise<never>(() => {})
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('createCallWatch', () => {
  it('gives each of several calls its own time, with one timer for all', async () => {
    const clock = createManualClock()
    const watch = createCallWatch(clock)
    const ends: string[] = []
    const begin = (name: string, ms: number) =>
      watch.within(ms, never).catch((error: Error) => ends.push(`${name} ${error.message}`))
    const calls = [begin('first', 100)]
    await clock.advance(50)
    calls.push(begin('second', 100), begin('third', 200))
    expect(clock.sleepers()).toBe(1)
    await clock.advance(50)
    expect(ends).toEqual(['first no answer within 100 ms'])
    await clock.advance(50)
    expect(ends.slice(1)).toEqual(['second no answer within 100 ms'])
    await clock.advance(100)
    expect(ends.slice(2)).toEqual(['third no answer within 200 ms'])
    await Promise.all(calls)
    expect(clock.sleepers()).toBe(0)
  })

  it('watches a call that begins after all others have ended', async () => {
    const clock = createManualClock()
    const watch = createCallWatch(clock)
    expect(await watch.within(100, async () => 'answer')).toBe('answer')
    await settle()
    expect(clock.sleepers()).toBe(0)
    await clock.advance(1_000)
    const late = expect(watch.within(100, never)).rejects.toMatchObject({ name: 'TimeoutError' })
    await clock.advance(100)
    await late
  })

  it('does not abort a call that was answered while others go on', async () => {
    const clock = createManualClock()
    const watch = createCallWatch(clock)
    let signal: AbortSignal | undefined
    const long = watch.within(500, never).catch((error: Error) => error.name)
    await watch.within(100, async (given) => {
      signal = given
    })
    await clock.advance(500)
    expect(await long).toBe('TimeoutError')
    expect(signal?.aborted).toBe(false)
  })

  it('waits no negative time for a call whose time is over before it is watched', async () => {
    const clock = createManualClock()
    const slept: number[] = []
    let late = 0
    const slow = {
      ...clock,
      now: () => clock.now() + 10 * late++,
      sleep: (ms: number, signal?: AbortSignal) => {
        slept.push(ms)
        return clock.sleep(ms, signal)
      },
    }
    const call = expect(createCallWatch(slow).within(5, never)).rejects.toMatchObject({ name: 'TimeoutError' })
    await clock.advance(0)
    await call
    expect(slept).toEqual([0])
  })
})
