import { encodeBody } from '../event/codec.ts'
import type { Identity } from '../event/identity.ts'
import type { Draft } from './draft-events.ts'
import type { OwnAction } from './own-action.ts'
import { GRACE_MS, type OutboxRow, pendingShard, ROW_VERSION, rowKey } from './row.ts'

/** What all rows of one call share, fixed once per call. */
export type Stamp = {
  /** ms */
  readonly created: number
  readonly instance: string
  readonly region: string
}

/** The pending row of an event. */
export function buildRow(
  { event, dataText }: Draft,
  identity: Identity,
  { created, instance, region }: Stamp,
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
    shard: pendingShard(key),
    due: created + GRACE_MS,
  }
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
