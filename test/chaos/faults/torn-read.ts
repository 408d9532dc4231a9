import type { Random } from './chance.ts'
import type { InProgress } from './in-progress.ts'
import { itemName, keyName } from './item-keys.ts'
import type { PartialAnswer } from './partial-answer.ts'
import { lastKey } from './partial-read.ts'
import type { Json, LayerRequest } from './request.ts'

type Item = Readonly<Record<string, { readonly S?: string } | undefined>>

/**
 * Only `TransactGetItems` is a snapshot: a Query or Get, consistent or not, beside a transaction in progress sees those of
 * its items that are written already. Undefined for a request that no transaction concerns.
 */
export function tornRead(request: LayerRequest, progress: InProgress, random: Random): PartialAnswer | undefined {
  const input = request.input()
  if (request.operation === 'GetItem') return tornGet(input, progress, random)
  if (request.operation === 'BatchGetItem') return tornBatchGet(input, progress, random)
  if (request.operation === 'Query' && input['IndexName'] === undefined) return tornQuery(input, progress, random)
  return undefined
}

function tornGet(input: Json, progress: InProgress, random: Random): PartialAnswer | undefined {
  const name = keyName(String(input['TableName']), input['Key'] as Item)
  if (!progress.concerns(name)) return undefined
  return {
    kind: 'torn read',
    forwarded: input,
    merge: ({ Item: item, ...rest }) =>
      item === undefined || progress.hides(name, random) ? rest : { ...rest, Item: item },
  }
}

function tornBatchGet(input: Json, progress: InProgress, random: Random): PartialAnswer | undefined {
  const asked = Object.entries((input['RequestItems'] ?? {}) as Record<string, { readonly Keys: readonly Item[] }>)
  const isConcerned = asked.some(([table, { Keys }]) => Keys.some((key) => progress.concerns(keyName(table, key))))
  if (!isConcerned) return undefined
  return {
    kind: 'torn read',
    forwarded: input,
    merge: (answer) => {
      const tables = Object.entries((answer['Responses'] ?? {}) as Record<string, readonly Item[]>)
      const seen = tables.map(([table, items]) => [
        table,
        items.filter((item) => !progress.hides(keyName(table, item), random)),
      ])
      return { ...answer, Responses: Object.fromEntries(seen) }
    },
  }
}

/** As many more are asked for as are hidden, so that the page holds what it would hold without them. */
function tornQuery(input: Json, progress: InProgress, random: Random): PartialAnswer | undefined {
  const table = String(input['TableName'])
  const pk = partitionOf(input)
  if (pk === undefined || !progress.concernsPartition(`${table} ${pk}`)) return undefined
  const limit = input['Limit'] as number | undefined
  const hidden = progress.hiddenIn(`${table} ${pk}`)
  return {
    kind: hidden > 0 ? 'torn query' : 'torn read',
    forwarded: limit === undefined ? input : { ...input, Limit: limit + hidden },
    merge: (answer) => {
      const items = (answer['Items'] ?? []) as readonly Item[]
      const seen = items.filter((item) => !progress.hides(itemName(table, pk, item['sk']?.S ?? ''), random))
      const page = seen.slice(0, limit)
      const { LastEvaluatedKey: more, ...rest } = answer
      const last = lastKey({ ...page.at(-1), pk: { S: pk } }, false)
      const cut = page.length < seen.length || more !== undefined
      return {
        ...rest,
        Items: page,
        Count: page.length,
        ScannedCount: page.length,
        ...(cut ? { LastEvaluatedKey: last ?? more } : {}),
      }
    },
  }
}

/** The one value that a key condition compares the partition key with: the first one in it. */
function partitionOf(input: Json): string | undefined {
  const name = /=\s*(:\w+)/.exec(String(input['KeyConditionExpression']))?.[1]
  const values = input['ExpressionAttributeValues'] as Item | undefined
  return name === undefined ? undefined : values?.[name]?.S
}
