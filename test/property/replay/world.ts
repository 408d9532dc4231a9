import { encodeBody } from '../../../src/event/codec.ts'
import { eventId, eventKey, type Identity } from '../../../src/event/identity.ts'
import { deadShard, pendingShard, rowKey } from '../../../src/outbox/row.ts'
import type { LocalQueue } from '../../../src/testing/local-queue.ts'
import type { Accepted } from '../model/engine/sqs.ts'
import { keyOf, type Table } from '../model/engine/table.ts'
import type { Item } from '../model/engine/values.ts'
import type { Process } from '../model/process.ts'
import { openStage, REGION, type Stage } from '../stage/stage.ts'
import type { EventType, ReplayPlan, Row, Run } from './plan.ts'

export const SOURCE = 'shop'
/** Where events of a type go, and which handlers take what arrives there. */
export const ROUTES: Readonly<Record<EventType, readonly string[]>> = {
  one: ['q1.fifo'],
  two: ['q2.fifo'],
  both: ['q1.fifo', 'q2.fifo'],
}
export const CONSUMERS = [
  { name: 'a', queue: 'q1.fifo', handlers: ['count', 'mail'] },
  { name: 'b', queue: 'q2.fifo', handlers: ['count'] },
] as const
const DAY_MS = 86_400_000

export type Event = { readonly id: string; readonly identity: Identity; readonly key: string; readonly row: Row }

export type World = Stage & {
  readonly plan: ReplayPlan
  readonly outbox: Table
  readonly ledger: Table
  readonly data: Table
  readonly queue: (name: string) => LocalQueue
  readonly events: readonly Event[]
  /** What each operator was told to do. */
  readonly orders: Map<Process, Run>
  /** Told of each entry that a queue accepts. */
  readonly told: { accepted: (accepted: Accepted) => void }
}

/** A table of events of yesterday, most of them relayed; their handlers' entries have expired. */
export function openWorld(plan: ReplayPlan): World {
  const told: World['told'] = { accepted: () => {} }
  const stage = openStage({
    ...plan,
    tables: ['outbox', 'ledger', 'data'],
    onAccept: (accepted) => told.accepted(accepted),
  })
  const { dynamo, sqs, story, scheduler } = stage
  const queues = new Map<string, LocalQueue>()
  for (const { queue } of CONSUMERS)
    for (const name of [queue, queue.replace('.', '-dead.')]) queues.set(name, sqs.create(name, {}))
  const [outbox, ledger, data] = ['outbox', 'ledger', 'data'].map(dynamo.table) as [Table, Table, Table]
  const events = plan.rows.map((row, n): Event => {
    const { group } = row
    const identity = group === undefined ? { source: SOURCE, key: `k${n}` } : { source: SOURCE, group, sequence: n + 1 }
    const item = itemOf(identity, row, scheduler.now() - DAY_MS)
    outbox.change(keyOf(item), item)
    outbox.slot(keyOf(item)).changedAt = 0
    story.name(eventId(identity), eventKey(identity))
    return { id: eventId(identity), identity, key: keyOf(item), row }
  })
  return {
    ...stage,
    plan,
    outbox,
    ledger,
    data,
    queue: (name) => queues.get(name) as LocalQueue,
    events,
    orders: new Map(),
    told,
  }
}

function itemOf(identity: Identity, { type, state, noted }: Row, created: number): Item {
  const { pk, sk } = rowKey(identity)
  const body = { identity, type, time: '2026-05-31T12:00:00Z', dataText: '{}', headers: {}, life: created }
  const isWaiting = state === 'pending' || state === 'dead'
  return {
    pk: { S: pk },
    sk: { S: sk },
    v: { N: '1' },
    region: { S: REGION },
    type: { S: type },
    created: { N: String(created) },
    instance: { S: 'i' },
    due: { N: String(created) },
    ...(state === 'forgotten' ? { forgotten: { N: '1' } } : { body: { S: encodeBody(body) } }),
    ...(isWaiting ? {} : { expires: { N: '4000000000' } }),
    ...(state === 'pending' ? { shard: { S: pendingShard({ pk, sk }) } } : {}),
    ...(state === 'dead' ? { shard: { S: deadShard({ pk, sk }) }, failure: { S: 'refused' } } : {}),
    ...(noted && type === 'both' && state === 'relayed' ? { accepted: { SS: ['q1.fifo'] } } : {}),
  }
}
