import type { World } from './world.ts'

/** In a FIFO queue that all went back to and nobody refused, the effects of a group come in its order, whoever died over it. */
export function watchEffects({ plan, data, dead, story, breach }: World): void {
  const isPlain =
    plan.fifo && plan.passes.every(({ select }) => select === 'all') && plan.scripts.flat().every((act) => act === 'ok')
  if (!isPlain) return
  const last = new Map<string, number>()
  data.onChange(({ after }) => {
    const [id, handler] = (after?.pk?.S ?? '').split(' ')
    const identity = dead.find((one) => one.id === id)?.identity
    if (identity === undefined || !('group' in identity)) return
    const key = `${identity.group} ${handler}`
    if ((last.get(key) ?? 0) > identity.sequence) breach(`${handler} had ${story.nameOf(id ?? '')} after later ones`)
    last.set(key, identity.sequence)
  })
}

/** What is left to do: messages, and effects. */
export function unfinished({ queue, deadLetters, dead, data, story }: World): string[] {
  const queues = [queue, deadLetters].flatMap(({ name, depth }) => {
    const { visible, invisible } = depth()
    return visible + invisible === 0 ? [] : [`${visible + invisible} in ${name}`]
  })
  const effects = dead.flatMap(({ id, handlers }) =>
    handlers.flatMap((handler) =>
      data.slot(`${id} ${handler}\0-`).item === undefined ? [`${handler} for ${story.nameOf(id)}`] : [],
    ),
  )
  return [...queues, ...effects]
}

/** Every handler that had given an event up has had its effect, once; and no other one has. */
export function checkEnd(world: World): void {
  const { dead, data, breach } = world
  const left = unfinished(world)
  if (left.length > 0) breach(`never came to its end: ${left.join('; ')}`)
  const wanted = new Set(dead.flatMap(({ id, handlers }) => handlers.map((handler) => `${id} ${handler}`)))
  for (const { pk, n } of data.items()) {
    if (!wanted.has(pk?.S ?? '')) breach(`an effect of ${pk?.S}, which nobody has redriven`)
    if (n?.N !== '1') breach(`${pk?.S} had its effect ${n?.N} times`)
  }
}
