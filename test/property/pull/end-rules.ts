import { DUE_HORIZON_MS, isOrderedKey, rowState } from '../../../src/outbox/row.ts'
import type { Item } from '../model/engine/values.ts'
import { REGION } from '../stage/stage.ts'
import { idOf } from './row-rules.ts'
import { HANDLERS, type World } from './world.ts'

/** Longer than a look takes to come round. ms */
const STARVED_MS = 200_000

/** What is left to do; empty once everything has come to its end. */
export function unfinished(world: World): string[] {
  return oursOf(world).flatMap((row) => {
    const state = rowState(row.shard?.S)
    return state === 'relayed' ? [] : [`${world.story.nameOf(idOf(row))} ${state}`]
  })
}

/** Rows that its workers are to handle: not those of others. */
function oursOf({ outbox }: World): Item[] {
  return outbox
    .items()
    .filter(({ region, v, pk }) => region?.S === REGION && v?.N === '1' && !pk?.S?.includes('malformed'))
}

/** Nothing that could be taken is passed over for long, whatever stands before it. */
export function checkNobodyStarves(world: World): void {
  const now = world.scheduler.now()
  for (const row of oursOf(world)) {
    const due = Number(row.due?.N)
    const isDue = due <= now - STARVED_MS || due > now + DUE_HORIZON_MS
    const isFree = !isOrderedKey({ pk: row.pk?.S ?? '', sk: row.sk?.S ?? '' })
    if (isFree && isDue && rowState(row.shard?.S) === 'pull')
      world.breach(`nobody takes ${world.story.nameOf(idOf(row))}, which has been due for ${(now - due) / 1000} s`)
  }
}

/** What must be true once all is calm and done. */
export function checkEnd(world: World): void {
  const { plan, effects, data, story } = world
  for (const row of oursOf(world)) {
    const id = idOf(row)
    if (plan.kind === 'loop') {
      if (!effects.has(id)) world.breach(`${story.nameOf(id)} is relayed, and nobody had it`)
      continue
    }
    const [commit, plain] = HANDLERS
    const committed = Number(data.slot(`effect ${id} ${commit}\0-`).item?.n?.N ?? 0)
    if (committed !== 1) world.breach(`${story.nameOf(id)}: ${commit} had its effect ${committed} times`)
    if (!effects.has(`${id} ${plain}`)) world.breach(`${story.nameOf(id)}: ${plain} never had its effect`)
  }
}
