import { rowState } from '../../../src/outbox/row.ts'
import type { Process } from '../model/process.ts'
import type { Stage } from '../stage/stage.ts'
import { checkEnd, checkNobodyStarves, unfinished } from './end-rules.ts'
import { runHandlers } from './handlers.ts'
import { runLoop } from './loop.ts'
import type { PullPlan } from './plan.ts'
import { watchRows } from './row-rules.ts'
import { openWorld, type World, workerIdOf } from './world.ts'
import { perform, redriveAll } from './writers.ts'

/** How long the trouble lasts after the last step, and how long a calm world may take to its end. ms */
const TROUBLE_MS = 120_000
const DRAIN_MS = 2 * 3_600_000
/** A worker that died is replaced after a while. ms */
const RESTART_MS = 3000
const MAX_STEPS = 40_000
const LOOK_EVERY = 10
const STARVES_AFTER_MS = 300_000

/** Plays a plan from its beginning to its end. */
export async function play(plan: PullPlan): Promise<Stage> {
  const world = openWorld(plan)
  watchRows(world)
  const { scheduler, breach, breaches } = world
  const stop = new AbortController()
  const ends = Array.from({ length: plan.workers }, () => employ(world, stop.signal))
  const begun = scheduler.now()
  const isBroken = (): boolean => breaches.length > 0
  for (const [n, step] of plan.steps.entries())
    scheduler.at(begun + step.at * 1000, () => void perform(world, step, n).catch(() => undefined))
  const last = Math.max(...plan.steps.map(({ at }) => at))
  await scheduler.run(isBroken, begun + last * 1000 + TROUBLE_MS)
  if (isBroken()) return world
  world.calm()
  await drain(world)
  if (isBroken()) return world
  checkEnd(world)
  stop.abort()
  let ended = 0
  for (const end of ends) void end.then(() => ended++)
  await scheduler.run(() => ended === ends.length, scheduler.now() + 120_000)
  if (ended < ends.length) breach('a worker does not end')
  return world
}

async function drain(world: World): Promise<void> {
  const { scheduler, breach, breaches } = world
  const first = scheduler.steps()
  const isStuck = (): boolean => scheduler.steps() - first > MAX_STEPS
  // Looked at now and then only: it reads all there is.
  const isDone = (): boolean => scheduler.steps() % LOOK_EVERY === 0 && unfinished(world).length === 0
  let over = false
  const operate = (): void => {
    if (over) return
    const isDead = world.outbox.items().some(({ shard }) => rowState(shard?.S) === 'dead')
    if (isDead) void redriveAll(world)
    scheduler.in(120_000, operate)
  }
  operate()
  scheduler.in(STARVES_AFTER_MS, () => {
    if (!over) checkNobodyStarves(world)
  })
  await scheduler.run(() => breaches.length > 0 || isStuck() || isDone(), scheduler.now() + DRAIN_MS)
  over = true
  if (breaches.length > 0) return
  const left = unfinished(world)
  if (left.length > 0) breach(`never came to its end: ${left.join('; ')}`)
}

/** One place for a worker, in one process after the other. Resolves once the last of them has ended by itself. */
function employ(world: World, signal: AbortSignal): Promise<void> {
  const { scheduler, spawn, plan, breach } = world
  const run = plan.kind === 'loop' ? runLoop : runHandlers
  return new Promise((resolve) => {
    const begin = (): void => {
      if (signal.aborted) {
        resolve()
        return
      }
      const process = spawn('consumer')
      process.onEnd(() => void scheduler.in(RESTART_MS, begin))
      run(world, process, signal).then(
        () => {
          checkLeftovers(world, process)
          resolve()
        },
        (error) => breach(`${process.name} threw ${String(error)}`),
      )
    }
    begin()
  })
}

/** A worker that was let end in peace holds nothing any more. */
function checkLeftovers({ outbox, wire, breach }: World, process: Process): void {
  if (wire.met(process).length > 0) return
  for (const { token, shard } of outbox.items())
    if (rowState(shard?.S) === 'pull' && token?.S?.startsWith(`${workerIdOf(process)} `))
      breach(`${process.name} has ended, and still holds a row`)
}
