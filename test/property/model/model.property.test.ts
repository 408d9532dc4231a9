import fc from 'fast-check'
import { describe, it } from 'vitest'
import { runs } from '../runs.ts'
import { type Focus, planOf } from './arbitraries.ts'
import { FOCI } from './foci.ts'
import { play } from './play.ts'

/** Plays plans until one breaks a promise; then shrinks it, and prints seed, plan and story. */
async function holds(focus: Focus, times: number): Promise<void> {
  const property = fc.asyncProperty(planOf(focus), async (plan) => {
    const { breaches, story } = await play(plan)
    if (breaches.length > 0) throw new Error(`${breaches.join('\n')}\n\n${story}\n`)
  })
  await fc.assert(property, runs(times))
}

describe('the model of the whole', { timeout: 600_000 }, () => {
  it('writers hear the truth, and what they wrote is all there or not at all', () => holds(FOCI.writers, 120))

  it('relay and sweepers keep each group in order, whichever queue fails', () => holds(FOCI.order, 100))

  it('the stream may lose, double and repeat its records', () => holds(FOCI.stream, 90))

  it('rows that are refused, die and are redriven are sent in their own round', () => holds(FOCI.rounds, 200))

  it('a record of an earlier round marks nothing in a later one', () => holds(FOCI.returns, 120))

  it('a group begins at its lowest row, though the index may show a later one first', () => holds(FOCI.clocks, 50))

  it('a refused row of a group dies in its turn', () => holds(FOCI.graves, 170))

  it('a group for two queues is marked up to the first row that one of them has not', () => holds(FOCI.wide, 16))

  it('a group with a long tail keeps its order', () => holds(FOCI.backlog, 6))

  it('a writer who is faster than the queue holds no invocation up', () => holds(FOCI.pace, 10))

  it('what a handler commits is there once, whatever it does and whatever becomes of the answer', () =>
    holds(FOCI.commits, 130))

  it('handlers that fail, hang and crash cost their own attempts and nobody else any', () => holds(FOCI.crashes, 150))

  it('what one request says of several rows counts for each, whatever becomes of the read after it', () =>
    holds(FOCI.rereads, 60))

  it('a message that is somebody else’s by now is left alone', () => holds(FOCI.hidden, 70))

  it('dead letters are neither lost nor doubled, whoever dies over them', () => holds(FOCI.letters, 100))

  it('what comes again after its row or entry has expired begins anew', () => holds(FOCI.expiry, 90))

  it('all of it together comes to its end, and has kept every promise', () => holds(FOCI.all, 70))
})
