import {
  type AttributeValue,
  BatchExecuteStatementCommand,
  type BatchExecuteStatementCommandOutput,
  BatchGetItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import { jitter } from '../backoff.ts'
import type { Clock } from '../clock.ts'
import { errorName, OutboxError } from '../errors.ts'
import type { RowKey } from '../outbox/row.ts'
import { groupQuery, type IndexEntry, indexQuery, itemKey, type PairKeys, pairRead } from '../outbox/row-queries.ts'
import {
  acceptUpdate,
  countQuery,
  deadLetterUpdate,
  heartbeatKey,
  heartbeatUpdate,
  listUpdate,
  markStatements,
} from './dynamo-row-requests.ts'
import { readHeartbeat } from './heartbeat.ts'
import { keyOf, numberOf, type RowImage } from './row-image.ts'
import type { Landing, Mark, MarkAnswer, RowStore } from './row-store.ts'

/** Requests in which DynamoDB may answer less than was asked, before it counts as not answering. */
const READ_TRIES = 6

export type DynamoRowStoreOptions = {
  readonly client: DynamoDBClient
  readonly tableName: string
  readonly clock: Clock
}

/** The row store on DynamoDB. The client's own retries cover throttling and lost connections, until the signal aborts. */
export function createDynamoRowStore({ client, tableName, clock }: DynamoRowStoreOptions): RowStore {
  const update = (input: UpdateItemCommandInput, signal: AbortSignal): Promise<Landing> =>
    landing(client.send(new UpdateItemCommand(input), { abortSignal: signal }))

  return {
    readRows: (keys, signal) => readRows({ client, tableName, clock }, keys, signal),
    readGroup: async (range, signal) => {
      const { Items, LastEvaluatedKey } = await client.send(new QueryCommand(groupQuery(tableName, range)), {
        abortSignal: signal,
      })
      return { images: Items ?? [], more: LastEvaluatedKey !== undefined }
    },
    readBefore: (pair, signal) => readBefore({ client, tableName }, pair, signal),
    markRelayed: async (marks, signal) => {
      const command = new BatchExecuteStatementCommand(markStatements(tableName, marks))
      return markAnswers(marks, await client.send(command, { abortSignal: signal }))
    },
    addAccepted: (guard, destinations, signal) => update(acceptUpdate(tableName, guard, destinations), signal),
    deadLetter: (guard, burial, signal) => update(deadLetterUpdate(tableName, guard, burial), signal),
    list: (row, due, signal) => update(listUpdate(tableName, row, due), signal),
    readIndex: async (range, signal) => {
      const { Items, LastEvaluatedKey } = await client.send(new QueryCommand(indexQuery(tableName, range)), {
        abortSignal: signal,
      })
      return { entries: (Items ?? []).flatMap(indexEntry), more: LastEvaluatedKey !== undefined }
    },
    countShard: async (shard, signal) => {
      const { Count } = await client.send(new QueryCommand(countQuery(tableName, shard)), { abortSignal: signal })
      return Count ?? 0
    },
    readHeartbeat: async (region, signal) => {
      const command = new GetItemCommand({ TableName: tableName, Key: itemKey(heartbeatKey(region)) })
      return readHeartbeat((await client.send(command, { abortSignal: signal })).Item)
    },
    writeHeartbeat: async (region, beat, signal) => {
      await client.send(new UpdateItemCommand(heartbeatUpdate(tableName, region, beat)), { abortSignal: signal })
    },
  }
}

async function readRows(
  { client, tableName, clock }: DynamoRowStoreOptions,
  keys: readonly RowKey[],
  signal: AbortSignal,
): Promise<readonly RowImage[]> {
  const images: RowImage[] = []
  let asked: Record<string, AttributeValue>[] = keys.map(itemKey)
  for (let tries = 1; tries <= READ_TRIES; tries += 1) {
    const command = new BatchGetItemCommand({ RequestItems: { [tableName]: { Keys: asked } } })
    const { Responses, UnprocessedKeys } = await client.send(command, { abortSignal: signal })
    images.push(...(Responses?.[tableName] ?? []))
    asked = UnprocessedKeys?.[tableName]?.Keys ?? []
    if (asked.length === 0) return images
    await clock.sleep(jitter(tries, clock.random), signal)
  }
  throw new OutboxError(
    'UNAVAILABLE',
    `${asked.length} of ${keys.length} rows were still unprocessed after ${READ_TRIES} reads.`,
  )
}

async function readBefore(
  { client, tableName }: Pick<DynamoRowStoreOptions, 'client' | 'tableName'>,
  pair: PairKeys,
  signal: AbortSignal,
): Promise<'absent' | 'present' | 'busy'> {
  try {
    const command = new TransactGetItemsCommand(pairRead(tableName, pair))
    const { Responses } = await client.send(command, { abortSignal: signal })
    return Responses?.[0]?.Item === undefined ? 'absent' : 'present'
  } catch (error) {
    if (errorName(error) === 'TransactionCanceledException') return 'busy'
    throw error
  }
}

async function landing(call: Promise<unknown>): Promise<Landing> {
  try {
    await call
    return 'landed'
  } catch (error) {
    if (errorName(error) === 'ConditionalCheckFailedException') return 'gone'
    throw error
  }
}

const BUSY_CODES: ReadonlySet<string> = new Set([
  'TransactionConflict',
  'ThrottlingError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'InternalServerError',
])

/** Every statement is accounted for: one without an answer of its own did not land. */
function markAnswers(marks: readonly Mark[], { Responses }: BatchExecuteStatementCommandOutput): MarkAnswer[] {
  return marks.map((_, index) => {
    const response = Responses?.[index]
    if (response === undefined) return 'failed'
    const code = response.Error?.Code
    if (response.Error === undefined) return 'landed'
    if (code === 'ConditionalCheckFailed') return 'gone'
    return code !== undefined && BUSY_CODES.has(code) ? 'busy' : 'failed'
  })
}

function indexEntry(item: RowImage): IndexEntry[] {
  const key = keyOf(item)
  const due = numberOf(item['due'])
  const created = numberOf(item['created'])
  if (key === undefined || due === undefined) return []
  return [{ ...key, due, ...(created === undefined ? {} : { created }) }]
}
