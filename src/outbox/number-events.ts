import { invalidEvent } from '../event/grammar.ts'
import { firstSequence, type Identity } from '../event/identity.ts'
import { type Draft, groupOf } from './draft-events.ts'
import type { HighestRow } from './session.ts'

/** A row this young is the last one that its group was given: it cannot have outlived a higher one. ms */
const YOUNG_MS = 12 * 3_600_000

/**
 * The number that an `auto` event gets. After a young row it is the next one, whatever day it is: writers on both sides of
 * midnight, or whose clocks differ, then want the same number, and the row's condition lets one of them have it. Where the
 * highest row is older, higher ones may have expired, a day after they were relayed at the soonest: then it is the day's
 * first at least, so that none comes back.
 *
 *     a dead row 41, yesterday ── 42 … 57 relayed, expired ── next: the day's first, not 42
 *     a row 57, a minute old ──── midnight ── two writers at once ── 58 for both ⇒ one reads again
 */
export function nextSequence(highest: HighestRow | undefined, now: number): number {
  const next = (highest?.sequence ?? 0) + 1
  const isYoung = highest !== undefined && now - highest.created < YOUNG_MS
  return isYoung ? next : Math.max(firstSequence(now), next)
}

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
