import { rowState } from '../../../src/outbox/row.ts'
import type { Round } from './replay-rules.ts'
import { CONSUMERS, type Event, ROUTES, type World } from './world.ts'

/** What is left to do: rows that wait, messages, replays that have not come to their end. */
export function unfinished({ outbox, queue, events, story }: World, rounds: readonly Round[]): string[] {
  const rows = events.filter(({ key }) => rowState(outbox.slot(key).item?.shard?.S) === 'pending')
  const queues = CONSUMERS.flatMap(({ queue: name }) => {
    const { visible, invisible } = queue(name).depth()
    return visible + invisible === 0 ? [] : [`${visible + invisible} in ${name}`]
  })
  const open = rounds.filter(({ ended }) => !ended)
  return [
    ...rows.map(({ id }) => `${story.nameOf(id)} waits`),
    ...queues,
    ...open.map(({ selection }) => `a replay for ${selection.handlers}`),
  ]
}

/** Every event that was meant has gone once more to each handler named, and to no other. */
export function checkEnd(world: World, rounds: readonly Round[]): void {
  const { breach, story, events, queue } = world
  const left = unfinished(world, rounds)
  if (left.length > 0) breach(`never came to its end: ${left.join('; ')}`)
  for (const { wanted, moved, selection } of rounds) {
    const missed = events.filter(({ key }) => wanted.has(key) && !moved.has(key))
    for (const { id } of missed) breach(`the replay for ${selection.handlers} has left ${story.nameOf(id)} out`)
  }
  for (const { queue: name } of CONSUMERS) {
    const { visible, invisible } = queue(name.replace('.', '-dead.')).depth()
    if (visible + invisible > 0) breach(`${visible + invisible} dead letters of ${name}, where nothing has failed`)
  }
  for (const event of events) for (const name of NAMES) checkHandler(world, { event, name, rounds })
}

/** All that there are: an event comes to none of some of them. */
const NAMES = CONSUMERS.flatMap(({ name, handlers }) => handlers.map((handler) => `${name}/${handler}`))

type Handled = { readonly event: Event; readonly name: string; readonly rounds: readonly Round[] }

/** Of rounds that overtake each other the later one counts for both: at least one effect, and the last round is done. */
function checkHandler({ data, ledger, story, breach }: World, { event, name, rounds }: Handled): void {
  const { id, key, row } = event
  const consumer = CONSUMERS.find((one) => name.startsWith(`${one.name}/`))
  const isRouted = ROUTES[row.type].includes(consumer?.queue ?? '')
  const mine = rounds.filter(({ moved, selection }) => isRouted && moved.has(key) && selection.handlers.includes(name))
  const most = mine.length + (isRouted && row.state === 'pending' ? 1 : 0)
  const effects = Number(data.slot(`${id} ${name}\0-`).item?.n?.N ?? 0)
  if (effects > most) breach(`${name} had ${story.nameOf(id)} ${effects} times, not ${most}`)
  if (effects === 0 && most > 0) breach(`${name} never had ${story.nameOf(id)}`)
  const entry = ledger.slot(`${id}\0${name}`).item
  const life = Math.max(0, ...mine.map((round) => round.life))
  if (life > 0 && (entry?.status?.S !== 'done' || Number(entry.life?.N) < life))
    breach(`${name} has not had the last round of ${story.nameOf(id)}`)
}
