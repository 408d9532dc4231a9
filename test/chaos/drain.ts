import { QueryCommand } from '@aws-sdk/client-dynamodb'
import { ALL_DEAD_SHARDS, ALL_PENDING_SHARDS } from '../../src/outbox/row.ts'
import { OUTBOX_TABLE } from '../../src/tables.ts'
import type { Mappings } from './mappings.ts'
import type { Operator } from './operator.ts'
import type { World } from './world.ts'

/** Longest drain, ms of real time. What is left then is stuck. */
const PATIENCE_MS = 120_000
const LOOK_MS = 5000

type Parts = { readonly world: World; readonly mappings: Mappings; readonly operator: Operator }

/** Redrives dead letters and waits until nothing is left to do: no message, no row pending or dead, nothing in flight. */
export async function drain({ world, mappings, operator }: Parts, report: (phase: string) => void): Promise<void> {
  const end = performance.now() + PATIENCE_MS
  for (let quiet = 0; quiet < 2 && performance.now() < end; ) {
    if (deadMessages(world) > 0 || (await rowsLeft(world, ALL_DEAD_SHARDS)) > 0) await operator.redrive(1)
    const isQuiet =
      mappings.pending().length === 0 &&
      deadMessages(world) === 0 &&
      (await rowsLeft(world, [...ALL_DEAD_SHARDS, ...ALL_PENDING_SHARDS])) === 0
    quiet = isQuiet ? quiet + 1 : 0
    if (!isQuiet) report('drain')
    await world.aws.clock.sleep(LOOK_MS)
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
