import { decodeBody } from '../../../src/event/codec.ts'
import { decodeLifeNote, LIFE_ATTRIBUTE } from '../../../src/event/life.ts'
import { DEDUPLICATION_MS } from '../../../src/testing/deduplication.ts'
import type { WireEntry } from '../../../src/testing/sqs-rules.ts'
import type { Accepted } from '../model/engine/sqs.ts'
import type { Stage } from '../stage/stage.ts'

export type RedriveRules = {
  readonly accepted: (accepted: Accepted) => void
  readonly notTaken: (entry: Pick<Accepted, 'entry' | 'by'>) => void
}

/**
 * What an operator sends back: of a group nothing after one that was not taken; no letter twice within the five minutes in
 * which the queue drops it; and in one pass nothing of an event's handler twice, however often it comes back dead.
 */
export function createRedriveRules(stage: Pick<Stage, 'scheduler' | 'breach' | 'story'>, fifo: boolean): RedriveRules {
  const { scheduler, breach, story } = stage
  /** By operator and group: the earliest that was not taken. */
  const stuck = new Map<string, number>()
  const lastSent = new Map<string, number>()
  /** By operator and work: when it was first sent in its pass. By letter: when it came into the dead-letter queue. */
  const firstSent = new Map<string, number>()
  const died = new Map<string, number>()

  const notTaken: RedriveRules['notTaken'] = ({ entry, by }) => {
    if (by?.role !== 'operator' || !fifo) return
    const key = `${by.name} ${entry.MessageGroupId}`
    stuck.set(key, Math.min(stuck.get(key) ?? Number.POSITIVE_INFINITY, letterOf(entry).sequence))
  }
  const accepted: RedriveRules['accepted'] = ({ queue, entry, by, isNew }) => {
    const { id, handlers, life, sequence } = letterOf(entry)
    const now = scheduler.now()
    const letter = `${id} ${handlers} ${life}`
    if (queue.includes('-dead')) died.set(letter, now)
    if (by?.role !== 'operator') return
    const short = `${story.nameOf(id)} for ${handlers || 'all'}`
    const first = stuck.get(`${by.name} ${entry.MessageGroupId}`)
    if (first !== undefined && sequence > first) breach(`${by.name} sent ${short} after one that was not taken`)
    const work = `${by.name} ${id} ${handlers}`
    const begun = firstSent.get(work) ?? now
    firstSent.set(work, begun)
    if ((died.get(letter) ?? 0) > begun) breach(`${by.name} sent ${short}, which had come back dead in its pass`)
    if (!isNew || !fifo) return
    if (now - (lastSent.get(letter) ?? Number.NEGATIVE_INFINITY) < DEDUPLICATION_MS)
      breach(`${by.name} sent ${short} twice, and its queue could not tell`)
    lastSent.set(letter, now)
  }
  return { accepted, notTaken }
}

function letterOf({ MessageBody, MessageAttributes }: WireEntry) {
  const decoded = decodeBody(MessageBody)
  const note = decodeLifeNote(MessageAttributes?.[LIFE_ATTRIBUTE]?.StringValue ?? '')
  const { id = '', sequence = 0 } = decoded.ok ? decoded.event : {}
  return { id, sequence, handlers: note?.handlers.join() ?? '', life: note?.life ?? 0 }
}
