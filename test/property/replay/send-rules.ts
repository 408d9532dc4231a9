import { decodeBody } from '../../../src/event/codec.ts'
import { decodeLifeNote, LIFE_ATTRIBUTE } from '../../../src/event/life.ts'
import { rowState } from '../../../src/outbox/row.ts'
import type { Accepted } from '../model/engine/sqs.ts'
import type { Round } from './replay-rules.ts'
import { type Event, ROUTES, type World } from './world.ts'

/**
 * In each queue the events of a group come in order, in each round of a replay. A sweep begins with the lowest row that the
 * index shows it, and with those that wait right below; past a row that does not wait it looks no further down, and the
 * index may be a moment behind. So only rows with none such between them are held to it. Told of each entry that a queue
 * accepts.
 */
export function createSendRules(world: World, rounds: readonly Round[]): (accepted: Accepted) => void {
  const { outbox, events, story, breach } = world
  const sent = new Set<string>()
  const isWaiting = ({ key }: Event): boolean => rowState(outbox.slot(key).item?.shard?.S) === 'pending'
  const rankOf = ({ identity }: Event): number => ('sequence' in identity ? identity.sequence : 0)

  return ({ queue, entry }) => {
    const decoded = decodeBody(entry.MessageBody)
    const note = decodeLifeNote(entry.MessageAttributes?.[LIFE_ATTRIBUTE]?.StringValue ?? '')
    const round = rounds.find(
      ({ life, selection }) => life === note?.life && `${selection.handlers}` === `${note.handlers}`,
    )
    const mine = events.find(({ id }) => decoded.ok && id === decoded.event.id)
    if (mine === undefined || round === undefined) return
    const nameIn = ({ id }: Event): string => `${queue} ${id} ${round.life} ${round.selection.handlers}`
    sent.add(nameIn(mine))
    const group = events.filter(({ row }) => row.group !== undefined && row.group === mine.row.group)
    for (const earlier of group.filter((one) => rankOf(one) < rankOf(mine))) {
      const isDue = round.moved.has(earlier.key) && ROUTES[earlier.row.type].includes(queue) && isWaiting(earlier)
      const between = group.filter((one) => rankOf(earlier) < rankOf(one) && rankOf(one) < rankOf(mine))
      if (isDue && !sent.has(nameIn(earlier)) && between.every(isWaiting))
        breach(`${queue} got ${story.nameOf(mine.id)} before ${story.nameOf(earlier.id)} of its replay`)
    }
  }
}
