import type { BatchGetItemCommandInput, GetItemCommandInput, QueryCommandInput } from '@aws-sdk/client-dynamodb'
import type { Engine } from './engine.ts'
import { read, readCondition } from './expressions.ts'
import { ROW_INDEX } from './row-index.ts'
import { keyOf, type Slot } from './table.ts'
import type { Item } from './values.ts'

/** How long a read that need not be consistent may lag behind. ms */
const STALE_MS = 1000

export type Reads = {
  readonly get: (input: GetItemCommandInput) => Promise<object>
  readonly batchGet: (input: BatchGetItemCommandInput, partial?: (part: number) => number) => object
  readonly query: (input: QueryCommandInput, partial?: (part: number) => number) => object
}

/**
 * Reads. A consistent single read waits for a transaction under way on its item; Query and BatchGetItem see each item of one
 * at its own moment. What need not be consistent may be a second old.
 */
export function createReads({ now, luck, tableOf }: Engine): Reads {
  let count = 0

  /** As a Query or BatchGetItem sees it. */
  const seen = (key: string, slot: Slot, consistent: boolean): Item | undefined => {
    const { item, before, changedAt, pending } = slot
    if (!consistent && now() - changedAt < luck('stale', key, count) * STALE_MS) return before
    return pending !== undefined && pending.visibleAt <= now() ? pending.item : item
  }

  const get: Reads['get'] = async ({ TableName, Key, ConsistentRead = false, ...rest }) => {
    count += 1
    const key = keyOf(Key as Item)
    const slot = tableOf(TableName).slot(key)
    if (ConsistentRead) await slot.pending?.done
    const item = ConsistentRead ? slot.item : seen(key, slot, false)
    return item === undefined ? {} : { Item: project(item, rest) }
  }

  const batchGet: Reads['batchGet'] = ({ RequestItems = {} }, partial) => {
    count += 1
    const Responses: Record<string, Item[]> = {}
    const UnprocessedKeys: Record<string, object> = {}
    for (const [name, asked] of Object.entries(RequestItems)) {
      const keys = asked.Keys ?? []
      if (keys.length === 0 || keys.length > 100) throw new Error('ValidationException')
      const left = keys.filter((_, n) => partial !== undefined && partial(n) < 0.5)
      const found = keys
        .filter((key) => !left.includes(key))
        .flatMap((Key) => {
          const key = keyOf(Key as Item)
          const item = seen(key, tableOf(name).slot(key), asked.ConsistentRead ?? false)
          return item === undefined ? [] : [item]
        })
      Responses[name] = found
      if (left.length > 0) UnprocessedKeys[name] = { ...asked, Keys: left }
    }
    return { Responses, UnprocessedKeys }
  }

  const query: Reads['query'] = (input, partial) => {
    count += 1
    const { TableName, IndexName, ConsistentRead = false, ScanIndexForward = true, ExclusiveStartKey, Select } = input
    const table = tableOf(TableName)
    const bindings = { names: input.ExpressionAttributeNames, values: input.ExpressionAttributeValues }
    const matches = readCondition(read(input.KeyConditionExpression ?? ''), bindings)
    if (IndexName !== undefined && ConsistentRead) throw new Error('ValidationException: no such read of an index')
    const indexed = IndexName !== undefined
    const found = [...table.slots].flatMap(([key, slot]): Item[] => {
      const item = indexed ? seen(key, slot, false) : seen(key, slot, ConsistentRead)
      return item !== undefined && matches(item) && (!indexed || item.due !== undefined) ? [item] : []
    })
    const sorted = found.sort(indexed ? ROW_INDEX.order : byKey)
    if (!ScanIndexForward) sorted.reverse()
    const start =
      ExclusiveStartKey === undefined ? 0 : sorted.findIndex((item) => isAfter(item, ExclusiveStartKey as Item))
    // A page may end early: at 1 MB, or where DynamoDB likes.
    const limit = partial === undefined ? (input.Limit ?? 1000) : Math.max(1, Math.floor(partial(0) * 4))
    const rest = start < 0 ? [] : sorted.slice(start)
    const items = rest.slice(0, limit)
    const last = items.at(-1)
    const more = last !== undefined && items.length === limit ? { LastEvaluatedKey: lastKey(last, indexed) } : {}
    const shown = indexed ? items.map(ROW_INDEX.project) : items.map((item) => project(item, input))
    return { ...(Select === 'COUNT' ? {} : { Items: shown }), Count: items.length, ...more }
  }

  return { get, batchGet, query }
}

type Projection = {
  readonly ProjectionExpression?: string | undefined
  readonly ExpressionAttributeNames?: Readonly<Record<string, string>> | undefined
}

export function project(item: Item, { ProjectionExpression, ExpressionAttributeNames = {} }: Projection): Item {
  if (ProjectionExpression === undefined) return item
  const names = ProjectionExpression.split(/,\s*/).map((name) => ExpressionAttributeNames[name] ?? name)
  return Object.fromEntries(Object.entries(item).filter(([name]) => names.includes(name)))
}

function byKey(a: Item, b: Item): number {
  return (a.sk?.S ?? '') < (b.sk?.S ?? '') ? -1 : 1
}

/** Ascending reads only: nothing asks for later pages of others. */
function isAfter(item: Item, start: Item): boolean {
  if (start.due === undefined) return (item.sk?.S ?? '') > (start.sk?.S ?? '')
  return ROW_INDEX.order(item, start) > 0
}

function lastKey(item: Item, indexed: boolean): Item {
  const { pk, sk, shard, due } = item
  const all = indexed ? { pk, sk, shard, due } : { pk, sk }
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
