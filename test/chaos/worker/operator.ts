import { eventId } from '../../../src/event/identity.ts'
import { indexedRows } from '../../../src/ops/dynamo-outbox-rows.ts'
import { redriveMessages, redriveRow } from '../../../src/ops/index.ts'
import { ALL_DEAD_SHARDS, identityOf, type RowKey } from '../../../src/outbox/row.ts'
import { QUEUES } from '../topology.ts'
import type { Station } from './station.ts'

/** Redrives a share of all dead letters, messages and rows. Gives how many it moved; what fails now is for the next time. */
export async function redrive(station: Station, share: number): Promise<number> {
  let moved = 0
  for (const name of QUEUES) moved += await redriveQueue(station, name, share).catch(() => 0)
  for (const shard of ALL_DEAD_SHARDS) moved += await redriveShard(station, shard, share).catch(() => 0)
  return moved
}

async function redriveQueue(station: Station, name: (typeof QUEUES)[number], share: number): Promise<number> {
  const { assignment, clients, journal, trueClock } = station
  const { url: queueUrl, deadLetterUrl: deadLetterQueueUrl } = assignment.queues[name]
  const { redriven } = await redriveMessages({ client: clients.sqs, queueUrl, deadLetterQueueUrl }, (letter) => {
    journal({ kind: 'letter', ...letter, queue: name, at: trueClock.now() })
    return trueClock.random() < share
  })
  return redriven
}

async function redriveShard(station: Station, shard: string, share: number): Promise<number> {
  const { assignment, clients, journal, trueClock, clock } = station
  const { outboxTable } = assignment
  const dead: RowKey[] = []
  for await (const page of indexedRows({ dynamo: clients.dynamo, outboxTable, clock }, shard)) dead.push(...page)
  let moved = 0
  for (const key of dead) {
    const identity = identityOf(key)
    if (identity === undefined || trueClock.random() >= share) continue
    const id = eventId(identity)
    const { status } = await redriveRow({ client: clients.dynamo, tableName: outboxTable, clock }, id)
    if (status !== 'redriven') continue
    moved += 1
    journal({ kind: 'row-redriven', id, at: trueClock.now() })
  }
  return moved
}
