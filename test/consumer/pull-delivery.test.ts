import { describe, expect, it } from 'vitest'
import { decidePulled, type JobEnd } from '../../src/consumer/pull-delivery.ts'
import { createPullPace } from '../../src/consumer/pull-pace.ts'
import type { Exhausted } from '../../src/ledger/decide-claim.ts'

const exhausted: Exhausted = {
  id: 'e',
  name: 'c/x',
  token: 't',
  status: 'failed',
  attempts: 8,
  life: 1,
  failure: 'why',
}
const end = (name: string, outcome: JobEnd['outcome']): JobEnd => ({ name, outcome })
const DONE = end('c/done', { status: 'settled', how: 'handled' })
const DEAD = end('c/dead', { status: 'settled', how: 'dead' })
const LATER = end('c/later', { status: 'unsettled', due: 7 })
const SPENT = end('c/x', { status: 'exhausted', exhausted })
const ALONE = end('c/alone', { status: 'wait-alone', crashes: 2 })

describe('an event of several handlers', () => {
  it.each<[string, JobEnd[], object]>([
    ['is done without any', [], { status: 'done' }],
    ['is done when all are', [DONE, DONE], { status: 'done' }],
    [
      'comes back at the earliest of those that are not',
      [LATER, DONE, end('c/y', { status: 'unsettled', due: 5 })],
      { status: 'later', due: 5 },
    ],
    ['is not dead while one is to run again', [SPENT, LATER], { status: 'later', due: 7 }],
    ['waits for its turn alone before all else', [SPENT, LATER, ALONE], { status: 'wait-alone', crashes: 2 }],
    [
      'is dead by those that gave up now or before',
      [DONE, SPENT, DEAD],
      { status: 'dead', handlers: ['c/x', 'c/dead'], exhausted: [exhausted] },
    ],
  ])('%s', (_, ends, expected) => {
    expect(decidePulled(ends)).toEqual(expected)
  })
})

describe('the pace of a worker', () => {
  const pace = () => createPullPace({ random: () => 1 }, 5000)

  it('slows down while nothing is due, up to the longest idle pause, and is quick again at once', () => {
    const { looked, pauseMs } = pace()
    const pauses = Array.from({ length: 8 }, () => {
      looked(0)
      return pauseMs()
    })
    expect(pauses).toEqual([200, 400, 800, 1600, 3200, 5000, 5000, 5000])
    looked(1)
    expect(pauseMs()).toBe(100)
  })

  it('waits half a minute at most after outages of the ledger, until something is handled', () => {
    const { outage, outages, handled, pauseMs } = pace()
    for (let n = 0; n < 50; n++) outage()
    expect(outages()).toBe(50)
    expect(pauseMs()).toBe(30_000)
    handled()
    expect(pauseMs()).toBe(100)
  })
})
