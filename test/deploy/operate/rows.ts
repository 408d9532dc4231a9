import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb'
import { createOutbox, type NewEvent } from '../../../src/index.ts'
import type { SendTransaction } from '../../../src/outbox/client-write.ts'
import { deadShard, KEEP_RELAYED_SECONDS } from '../../../src/outbox/row.ts'
import type { Item } from '../shop.ts'
import type { World } from '../world.ts'

/** Rows as `createOutbox` writes them; none is written. */
export async function rowsOf({ dynamo }: World, tableName: string, events: readonly NewEvent[]): Promise<Item[]> {
  const outbox = createOutbox({ documentClient: dynamo, tableName })
  const rows: Item[] = []
  const send: SendTransaction = async ({ TransactItems = [] }) => {
    for (const { Put } of TransactItems) rows.push(Put?.Item ?? {})
  }
  for (const part of partsOf(events, 100)) await outbox.transact({ events: part, send })
  return rows
}

/** As the relay leaves a row that a queue has taken. */
export function relayed({ shard: _, due: __, ...row }: Item): Item {
  return { ...row, expires: Math.floor(Date.now() / 1000) + KEEP_RELAYED_SECONDS }
}

/** As the relay leaves a row that a queue has refused. */
export function dead(row: Item, failure: string): Item {
  return { ...row, shard: deadShard({ pk: row['pk'], sk: row['sk'] }), failure }
}

export async function putAll({ dynamo }: World, table: string, items: readonly Item[]): Promise<void> {
  for (const part of partsOf(items, 25)) {
    const requests = part.map((Item) => ({ PutRequest: { Item } }))
    const { UnprocessedItems = {} } = await dynamo.send(new BatchWriteCommand({ RequestItems: { [table]: requests } }))
    if (Object.keys(UnprocessedItems).length > 0) throw new Error(`${table} did not take all items`)
  }
}

export function partsOf<One>(all: readonly One[], size: number): readonly One[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, n) => all.slice(n * size, (n + 1) * size))
}
