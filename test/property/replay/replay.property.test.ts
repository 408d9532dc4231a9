import { it } from 'vitest'
import { holds } from '../stage/holds.ts'
import { plans } from './plan.ts'
import { play } from './play.ts'

it(
  'a replay, whoever dies over it or runs beside it, brings each event that is meant to each handler named, in order, once',
  {
    timeout: 600_000,
  },
  () => holds(plans, 200, play),
)
