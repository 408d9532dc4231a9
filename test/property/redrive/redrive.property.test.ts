import { describe, it } from 'vitest'
import { holds } from '../stage/holds.ts'
import { FOCI, planOf } from './plan.ts'
import { play } from './play.ts'

describe('a redrive of dead letters, whoever dies over it', { timeout: 600_000 }, () => {
  it('loses none, doubles none, sends nothing of a group past one that stays, and hides nothing that it leaves', () =>
    holds(planOf(FOCI.any), 350, play))

  it('keeps each group in its order', () => holds(planOf(FOCI.order), 250, play))

  it('comes to all there are, however long it takes', () => holds(planOf(FOCI.many), 40, play))
})
