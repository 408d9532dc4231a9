import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb'
import { OUTBOX_TABLE } from '../tables.ts'
import type { Source } from './source.ts'

/** Lets `idle` wait for rows that no destination has taken yet: a relay may leave some to the sweeper. */
export function watchPendingRows(client: DynamoDBClient, tableName: string): Source {
  return {
    pending: () => [],
    catchUp: async () => {},
    remaining: async () => {
      const count = await countPendingRows(client, tableName)
      return count === 0 ? [] : [`${count} pending rows (left to the sweeper, or without a route)`]
    },
    stop: async () => {},
  }
}

/** Rows in the pending shards of the index: one scan, for the small tables of tests. */
async function countPendingRows(client: DynamoDBClient, TableName: string): Promise<number> {
  let count = 0
  let ExclusiveStartKey: ScanCommand['input']['ExclusiveStartKey']
  do {
    const page = await client.send(
      new ScanCommand({
        TableName,
        IndexName: OUTBOX_TABLE.index?.name,
        Select: 'COUNT',
        FilterExpression: 'begins_with(#shard, :pending)',
        ExpressionAttributeNames: { '#shard': 'shard' },
        ExpressionAttributeValues: { ':pending': { S: 'p#' } },
        ExclusiveStartKey,
      }),
    )
    count += page.Count ?? 0
    ExclusiveStartKey = page.LastEvaluatedKey
  } while (ExclusiveStartKey !== undefined)
  return count
}
