import { decodeBody } from '../../../src/event/codec.ts'
import { DUE_HORIZON_MS, rowKey, rowState } from '../../../src/outbox/row.ts'
import type { Accepted } from './engine/sqs.ts'
import { type ItemChange, keyOf, type Table } from './engine/table.ts'
import type { Item } from './engine/values.ts'
import { CONSUMERS, type Plan } from './plan.ts'
import type { Process } from './process.ts'

export type SendRules = {
  readonly rows: Table
  readonly plan: Plan
  readonly now: () => number
  readonly breach: (text: string) => void
  readonly nameOf: (id: string) => string
}

/** A read may be this old when it is sent from, and its request is a few seconds on its way. ms */
const READ_AGE_MS = 60_000 + 10_000
/** What the design allows, and not a second more. ms */
const OLDEST_READ_MS = 61_000
/** An image is sent unread while its record is no older. ms */
const GRACE_MS = 120_000

/**
 * What is not sent: a row that was relayed, or was noted as taken by that queue, longer ago than any read may be old; a row
 * in its grace, by a sweeper.
 */
export function watchSends({ rows, plan, now, breach, nameOf }: SendRules) {
  /** By row and queue: since when it is known that it has it. */
  const since = new Map<string, number>()
  const skews = Object.values(plan.skews).some((skew) => skew !== 0)
  const late = plan.faults.reduce((sum, { kind, seconds, times }) => {
    return kind === 'freeze' || kind.startsWith('slow') ? sum + seconds * times * 1000 : sum
  }, 0)

  const queues = CONSUMERS.map(({ queue }) => queue)
  /** When each process last began a read that showed it a row. */
  const seen = new Map<string, number>()
  const readAt = (by: Process, rowKeys: readonly string[], begun: number): void => {
    for (const key of rowKeys) seen.set(`${by.name} ${key}`, begun)
  }
  /** Told as a request is made, however late it arrives. */
  const sending = (by: Process, bodies: readonly string[]): void => {
    if (by.role !== 'relay' && by.role !== 'sweeper') return
    for (const body of bodies) {
      const row = rowOf(body)
      if (row === undefined) continue
      checkRead(by, row)
      checkAge(by, row)
    }
  }
  const checkRead = (by: Process, { key, id }: SentRow): void => {
    const age = now() - (seen.get(`${by.name} ${key}`) ?? by.born)
    if (age > OLDEST_READ_MS) breach(`${by.name} sends ${nameOf(id)} from a read ${Math.round(age / 1000)} s old`)
  }
  /** When a row came that was its group's highest. */
  const born = new Map<string, number>()
  const highest = new Map<string, string>()
  const noteBirth = (item: Item, at: number): void => {
    const { pk, sk } = item
    if ((highest.get(pk?.S ?? '') ?? '') >= (sk?.S ?? '')) return
    highest.set(pk?.S ?? '', sk?.S ?? '')
    born.set(keyOf(item), at)
  }
  /** By relay and group: when it first sent anything, and the read that showed it what was written after that. */
  const begun = new Map<string, number>()
  const lastReads = new Map<string, number>()
  const looking = new Set<Process>()
  /**
   * What is written once a relay has read a group has a record of its own, and must not hold an invocation up for ever. Its
   * last read may show such rows; after that it reads no more, unless it has to look for a row that a read did not show.
   */
  const checkAge = (by: Process, { key, id, group }: SentRow): void => {
    if (group === undefined || by.role !== 'relay') return
    const first = begun.get(`${by.name} ${group}`) ?? now()
    begun.set(`${by.name} ${group}`, first)
    if ((born.get(key) ?? 0) <= first || looking.has(by)) return
    const read = seen.get(`${by.name} ${key}`) ?? 0
    const last = lastReads.get(`${by.name} ${group}`) ?? read
    lastReads.set(`${by.name} ${group}`, last)
    if (read > last) breach(`${by.name} goes on with ${nameOf(id)}, which was written after it began`)
  }
  const changed = ({ before, after, at }: ItemChange): void => {
    const key = keyOf(after ?? before)
    if (before === undefined && after !== undefined) noteBirth(after, at)
    if (before === undefined) for (const mark of ['relayed', ...queues]) since.delete(`${key} ${mark}`)
    const isRelayed = after !== undefined && rowState(after.shard?.S) === 'relayed'
    if (before !== undefined && isRelayed) since.set(`${key} relayed`, at)
    if (before === undefined || before.redrives?.N !== after?.redrives?.N) since.delete(`${key} relayed`)
    for (const queue of after?.accepted?.SS ?? []) if (!since.has(`${key} ${queue}`)) since.set(`${key} ${queue}`, at)
  }
  const accepted = ({ queue, entry, by }: Accepted): void => {
    if (by === undefined || (by.role !== 'relay' && by.role !== 'sweeper')) return
    const row = rowOf(entry.MessageBody)
    if (row === undefined) return
    const { key, group } = row
    const short = nameOf(row.id)
    const old = (mark: string): number => now() - (since.get(`${key} ${mark}`) ?? now())
    if (old('relayed') > READ_AGE_MS + GRACE_MS + late) breach(`${by.name} sent ${short}, which was relayed long ago`)
    if (old(queue) > READ_AGE_MS + GRACE_MS + late)
      breach(`${by.name} sent ${short} to ${queue}, which is known to have it`)
    const due = Number(rows.slot(key).item?.due?.N ?? 0)
    const isInGrace = due > now() && due < now() + DUE_HORIZON_MS
    if (by.role === 'sweeper' && !skews && group === undefined && isInGrace)
      breach(`${by.name} sent ${short} in its grace`)
  }
  const looks = (by: Process): void => void looking.add(by)
  return { changed, accepted, readAt, looks, sending }
}

type SentRow = { readonly id: string; readonly key: string; readonly group: string | undefined }

function rowOf(body: string): SentRow | undefined {
  const decoded = decodeBody(body)
  if (!decoded.ok) return undefined
  const { id, source, key: name, group, sequence } = decoded.event
  const identity = group === undefined || sequence === undefined ? { source, key: name } : { source, group, sequence }
  const { pk, sk } = rowKey(identity)
  return { id, key: `${pk}\0${sk}`, group }
}
