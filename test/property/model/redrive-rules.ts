import { decodeBody } from '../../../src/event/codec.ts'
import { decodeLifeNote, LIFE_ATTRIBUTE } from '../../../src/event/life.ts'
import { DEDUPLICATION_MS } from '../../../src/testing/deduplication.ts'
import type { WireEntry } from '../../../src/testing/sqs-rules.ts'
import type { Accepted } from './engine/sqs.ts'
import type { Process } from './process.ts'

export type RedriveRules = {
  readonly now: () => number
  readonly breach: (text: string) => void
  readonly nameOf: (id: string) => string
}

/**
 * What an operator sends back: of a group nothing after one that was not taken; no letter twice within the five minutes.
 */
export function watchRedrives({ now, breach, nameOf }: RedriveRules) {
  const failed = new Map<string, number>()
  const sent = new Map<string, number>()

  const notTaken = ({ entry, by }: Pick<Accepted, 'entry' | 'by'>): void => {
    if (by?.role !== 'operator') return
    const key = groupKey(by, entry)
    failed.set(key, Math.min(failed.get(key) ?? Number.POSITIVE_INFINITY, sequenceOf(entry)))
  }
  const accepted = ({ queue, entry, by, isNew }: Accepted): void => {
    if (by?.role !== 'operator') return
    const note = decodeLifeNote(entry.MessageAttributes?.[LIFE_ATTRIBUTE]?.StringValue ?? '')
    const short = `${nameOf(idOf(entry))} for ${note?.handlers}`
    // By its id: events of two sources may have the same short name.
    const name = `${idOf(entry)} for ${note?.handlers}`
    const first = failed.get(groupKey(by, entry))
    if (first !== undefined && sequenceOf(entry) > first)
      breach(`${by.name} sent ${short} after one that was not taken`)
    if (first === sequenceOf(entry)) failed.delete(groupKey(by, entry))
    const letter = `${queue} ${name} ${note?.life}`
    if (isNew && now() - (sent.get(letter) ?? Number.NEGATIVE_INFINITY) < DEDUPLICATION_MS)
      breach(`${by.name} sent ${short} twice`)
    if (isNew) sent.set(letter, now())
  }
  return { accepted, notTaken }
}

function groupKey(by: Process, { MessageGroupId }: WireEntry): string {
  return `${by.name} ${MessageGroupId}`
}

function idOf({ MessageBody }: WireEntry): string {
  const decoded = decodeBody(MessageBody)
  return decoded.ok ? decoded.event.id : ''
}

function sequenceOf({ MessageBody }: WireEntry): number {
  const decoded = decodeBody(MessageBody)
  return decoded.ok ? (decoded.event.sequence ?? 0) : 0
}
