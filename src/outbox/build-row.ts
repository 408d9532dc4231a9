import { encodeBody } from '../event/codec.ts'
import type { Identity } from '../event/identity.ts'
import type { Draft } from './draft-events.ts'
import type { OwnAction } from './own-action.ts'
import { GRACE_MS, type OutboxRow, pendingShard, pullShard, ROW_VERSION, type RowKey, rowKey } from './row.ts'

/** Who takes the rows: relay and sweeper, or pull workers. */
export type DeliveryKind = 'relay' | 'pull'

/** What all rows of one call share, fixed once per call. */
export type Stamp = {
  /** ms */
  readonly created: number
  readonly instance: string
  readonly region: string
  /** Default: `relay`. */
  readonly delivery?: DeliveryKind
}

/** The pending row of an event. */
export function buildRow(
  { event, dataText }: Draft,
  identity: Identity,
  { created, instance, region, delivery }: Stamp,
): OutboxRow {
  const { type, headers } = event
  const time = event.time ?? new Date(created).toISOString()
  const key = rowKey(identity)
  return {
    ...key,
    v: ROW_VERSION,
    region,
    type,
    body: encodeBody({ identity, type, time, dataText, headers, life: created }),
    created,
    instance,
    ...waiting(key, created, delivery),
  }
}

/** There is no stream path to wait for before a pull worker. */
function waiting(key: RowKey, created: number, delivery: DeliveryKind | undefined): Pick<OutboxRow, 'shard' | 'due'> {
  const shard = delivery === 'pull' ? pullShard(key) : undefined
  return shard === undefined ? { shard: pendingShard(key), due: created + GRACE_MS } : { shard, due: created }
}

/**
 * The write of a row. The condition is the lock of the key and of the number:
 *
 *   call A: Put row            → stored
 *   call B: Put row, same key  → ConditionalCheckFailed, with A's row as the old item
 *   call A: again, answer lost → the same, with its own `instance`: that is how it knows
 */
export function putRow(tableName: string, row: OutboxRow): OwnAction {
  return {
    Put: {
      TableName: tableName,
      Item: { ...row },
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    },
  }
}
