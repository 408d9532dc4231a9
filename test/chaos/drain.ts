import { QueryCommand } from '@aws-sdk/client-dynamodb'
import { ALL_DEAD_SHARDS, ALL_PENDING_SHARDS } from '../../src/outbox/row.ts'
import { OUTBOX_TABLE } from '../../src/tables.ts'
import type { Rig } from './open-rig.ts'
import type { World } from './world.ts'

/** What does not move for so long is stuck, ms of the clock: longer than any wait of a retry, and every clock's error. */
const PATIENCE_MS = 20 * 60_000
const LOOK_MS = 5000

/** Redrives dead letters and waits until nothing is left to do (no message, no row pending or dead, nothing in flight), or nothing moves. */
export async function drain({ world, mappings, operator }: Rig): Promise<void> {
  const { clock } = world.aws
  let moved = clock.now()
  let last = ''
  for (let quiet = 0; quiet < 2 && clock.now() - moved < PATIENCE_MS; ) {
    const dead = deadMessages(world) + (await rowsLeft(world, ALL_DEAD_SHARDS))
    if (dead > 0) await operator.redrive(1)
    const pending = [...mappings.pending(), String(dead), String(await rowsLeft(world, ALL_PENDING_SHARDS))]
    quiet = pending.join() === '0,0' ? quiet + 1 : 0
    if (pending.join() !== last) moved = clock.now()
    last = pending.join()
    await clock.sleep(LOOK_MS)
  }
}

function deadMessages({ left }: World): number {
  return Object.entries(left()).reduce((sum, [name, count]) => sum + (name.endsWith('-dead') ? count : 0), 0)
}

async function rowsLeft({ aws }: World, shards: readonly string[]): Promise<number> {
  const counts = await Promise.all(
    shards.map(async (shard) => {
      const { Count = 0 } = await aws.dynamo.send(
        new QueryCommand({
          TableName: aws.outboxTable,
          IndexName: OUTBOX_TABLE.index?.name,
          KeyConditionExpression: '#shard = :shard',
          ExpressionAttributeNames: { '#shard': 'shard' },
          ExpressionAttributeValues: { ':shard': { S: shard } },
          Select: 'COUNT',
        }),
      )
      return Count
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}
