import { encodeBody } from '../../src/event/codec.ts'
import type { Identity } from '../../src/event/identity.ts'
import type { StoredRow } from '../../src/outbox/pull-store.ts'
import { pullShard, rowKey } from '../../src/outbox/row.ts'

export const REGION = 'eu-central-1'
export const CREATED = 1_700_000_000_000

export const keyed = (key: string): Identity => ({ source: 'shop', key })
export const numbered = (group: string, sequence: number): Identity => ({ source: 'shop', group, sequence })

/** A row as `createOutbox({ delivery: 'pull' })` writes it; an attribute given as undefined is left out. */
export function pullRow(
  identity: Identity,
  changes: Readonly<Record<string, string | number | undefined>> = {},
): StoredRow {
  const key = rowKey(identity)
  const body = encodeBody({
    identity,
    type: 'order.placed',
    time: '2027-01-15T08:00:00Z',
    dataText: '{}',
    headers: {},
    life: CREATED,
  })
  const row = {
    ...key,
    v: 1,
    region: REGION,
    type: 'order.placed',
    body,
    created: CREATED,
    instance: 'i1',
    shard: pullShard(key),
    due: CREATED,
    ...changes,
  }
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== undefined))
}

export const relayed = { shard: undefined, expires: 2_000_000_000 }
export const dead = { shard: 'd#0', failure: 'refused', claims: 1 }
