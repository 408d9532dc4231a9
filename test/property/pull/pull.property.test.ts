import { describe, it } from 'vitest'
import { holds } from '../stage/holds.ts'
import { FOCI, planOf } from './plan.ts'
import { play } from './play.ts'

describe('pull workers on a table, whatever befalls them', { timeout: 600_000 }, () => {
  it('take each row one at a time, in the order of its group, as often as allowed, and answer only for what they hold', () =>
    holds(planOf(FOCI.loop), 200, play))

  it('come to every row, though a group that waits fills the pages before it', () =>
    holds(planOf(FOCI.blocked), 20, play))

  it('run handlers to their end: an effect of a commit once, a crash alone, a row dead only when all are done', () =>
    holds(planOf(FOCI.handlers), 120, play))
})
