import { describe, expect, it } from 'vitest'
import { createPacer, MAX_BUSY_TRIES, MAX_UNANSWERED_TRIES, type Pace } from '../../src/outbox/pace.ts'
import { testClock } from '../support/clock.ts'

/** Tries until there is to be no further one. Chance is always one half. */
async function all(pace: Pace, deadlineMs?: number) {
  const clock = testClock()
  const pacer = createPacer(clock, deadlineMs === undefined ? undefined : clock.now() + deadlineMs)
  let tries = 1
  while (await pacer(pace)) tries++
  return { tries, sleeps: clock.sleeps }
}
const sum = (sleeps: readonly number[]) => sleeps.reduce((total, ms) => total + ms, 0)

describe('the pace of a call', () => {
  it('is 25 busy tries, 10 ms doubling to half a second apart, with full jitter', async () => {
    const { tries, sleeps } = await all('busy')
    expect(tries).toBe(MAX_BUSY_TRIES)
    expect(sleeps.slice(0, 8)).toEqual([5, 10, 20, 40, 80, 160, 250, 250])
  })

  it('is 8 tries without an answer, 200 ms doubling to 2 s apart, of which a quarter at most is left out', async () => {
    const { tries, sleeps } = await all('unanswered')
    expect(tries).toBe(MAX_UNANSWERED_TRIES)
    expect(sleeps).toEqual([175, 350, 700, 1400, 1750, 1750, 1750])
    expect(sum(sleeps) * (0.75 / 0.875)).toBeGreaterThan(6500)
  })

  it('counts the two apart', async () => {
    const clock = testClock()
    const pacer = createPacer(clock, undefined)
    for (let n = 0; n < MAX_UNANSWERED_TRIES - 1; n++) expect(await pacer('unanswered')).toBe(true)
    expect(await pacer('busy')).toBe(true)
    expect(await pacer('unanswered')).toBe(false)
  })

  it('is bounded by a deadline alone while busy, and never waits up to it', async () => {
    const { tries, sleeps } = await all('busy', 60_000)
    expect(tries).toBeGreaterThan(MAX_BUSY_TRIES)
    expect(sum(sleeps)).toBeLessThan(60_000)
    expect(sum(sleeps)).toBeGreaterThan(59_000)
    // The first wait would end at the deadline.
    expect(await all('busy', 5)).toEqual({ tries: 1, sleeps: [] })
    expect((await all('busy', 6)).sleeps).toEqual([5])
  })

  it('is bounded by both without an answer', async () => {
    expect((await all('unanswered', 60_000)).tries).toBe(MAX_UNANSWERED_TRIES)
    expect((await all('unanswered', 1000)).sleeps).toEqual([175, 350])
  })
})
