import { invalidEvent } from '../event/grammar.ts'
import type { Identity } from '../event/identity.ts'
import { type Draft, groupOf } from './draft-events.ts'

/**
 * Who each event is, in order: `auto` events get consecutive numbers from the next one of their group. `next` has the
 * next number of every group with an `auto` event.
 */
export function numberEvents(drafts: readonly Draft[], next: ReadonlyMap<string, number>): Identity[] {
  const counters = new Map(next)
  return drafts.map((draft) => {
    const { identity, event } = draft
    if (identity !== undefined) return identity
    const group = groupOf(draft)
    const sequence = counters.get(group)
    if (event.group === undefined || sequence === undefined || !Number.isSafeInteger(sequence)) {
      throw invalidEvent(
        'events',
        `cannot be numbered: the group has used up its numbers (to ${Number.MAX_SAFE_INTEGER})`,
      )
    }
    counters.set(group, sequence + 1)
    return { source: event.source, group: event.group, sequence }
  })
}

/** One `auto` draft of each group that has any. */
export function autoGroups(drafts: readonly Draft[]): Draft[] {
  const autos = drafts.filter(({ identity }) => identity === undefined)
  return [...new Map(autos.map((draft) => [groupOf(draft), draft])).values()]
}
