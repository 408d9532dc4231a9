import type { Stage } from '../stage/stage.ts'
import { replayOnce, startConsumers, startSweepers } from './actors.ts'
import { checkEnd, unfinished } from './end-rules.ts'
import type { ReplayPlan } from './plan.ts'
import { watchReplays } from './replay-rules.ts'
import { createSendRules } from './send-rules.ts'
import { openWorld } from './world.ts'

/** How long the trouble lasts after the last run, and how long a calm world may take to its end. ms */
const TROUBLE_MS = 120_000
const DRAIN_MS = 2 * 3_600_000
/** Whoever finds his replay killed runs it once more. ms */
const AGAIN_MS = 60_000
const LOOK_EVERY = 10

/** Plays a plan from its beginning to its end. */
export async function play(plan: ReplayPlan): Promise<Stage> {
  const world = openWorld(plan)
  const { scheduler, breaches, isCalm, calm } = world
  const rounds = watchReplays(world)
  world.told.accepted = createSendRules(world, rounds)
  const begun = scheduler.now()
  const isBroken = (): boolean => breaches.length > 0
  startConsumers(world)
  startSweepers(world)
  for (const [place, run] of plan.runs.entries())
    for (let n = 0; n < run.operators; n++)
      scheduler.at(begun + run.at * 1000 + place * 101 + n, () => void replayOnce(world, rounds, run))
  const last = Math.max(...plan.runs.map(({ at }) => at))
  await scheduler.run(isBroken, begun + last * 1000 + TROUBLE_MS)
  calm()
  let over = false
  const goOn = (): void => {
    if (over || !isCalm()) return
    // What has ended is not begun anew by that.
    for (const [place, run] of plan.runs.entries())
      scheduler.in(place * 101, () => void replayOnce(world, rounds, { ...run, again: false, perSecond: 1000 }))
    scheduler.in(AGAIN_MS, goOn)
  }
  goOn()
  const first = scheduler.now()
  const isDone = (): boolean =>
    scheduler.steps() % LOOK_EVERY === 0 &&
    scheduler.now() > first + AGAIN_MS / 2 &&
    unfinished(world, rounds).length === 0
  await scheduler.run(() => isBroken() || isDone(), first + DRAIN_MS)
  over = true
  if (!isBroken()) checkEnd(world, rounds)
  return world
}
