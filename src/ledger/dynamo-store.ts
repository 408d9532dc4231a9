import {
  type AttributeValue,
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  type BatchStatementResponse,
  type DynamoDBClient,
  type KeysAndAttributes,
} from '@aws-sdk/client-dynamodb'
import { jitter } from '../backoff.ts'
import type { Clock } from '../clock.ts'
import { errorName } from '../errors.ts'
import { coalesce } from './coalesce.ts'
import type { EntryKey } from './entry.ts'
import { keyOf, type LedgerStore, type LedgerWrite, type WriteAnswer } from './ledger-store.ts'
import { fromItem, toStatement } from './statements.ts'

/** `BatchExecuteStatement` takes 25, each on an item of its own. */
const MAX_STATEMENTS = 25
/** Requests for rows that DynamoDB leaves unprocessed under throttling. */
const MAX_READS = 4

/** Codes of one failed statement that say "not now". Whatever else it is, the statement would fail again. */
const PASSING: ReadonlySet<string> = new Set([
  'InternalServerError',
  'ProvisionedThroughputExceeded',
  'RequestLimitExceeded',
  'ThrottlingError',
  'TransactionConflict',
])

type Item = Record<string, AttributeValue>

export type DynamoStoreOptions = {
  /** A document client fits too: what is sent are AttributeValues, whatever its marshalling options. */
  readonly client: Pick<DynamoDBClient, 'send'>
  readonly tableName: string
  readonly clock: Clock
}

/**
 * Rows in DynamoDB. Writes are gathered without a timer, up to 25 a request; a refused one whose answer lacks the row that
 * stands there (not every engine gives it) is followed by one consistent `BatchGetItem` for all of the request.
 */
export function createDynamoStore(options: DynamoStoreOptions): LedgerStore {
  const send = (writes: readonly LedgerWrite[]): Promise<readonly WriteAnswer[]> => sendWrites(options, writes)
  const write = coalesce({ maxJobs: MAX_STATEMENTS, keyOf: (job: LedgerWrite) => keyText(keyOf(job)), send })
  return { write: (job) => write(job).catch(failedWith) }
}

/** One request, and one read at most. Rejects only if the request as a whole was not answered. */
async function sendWrites(
  options: DynamoStoreOptions,
  writes: readonly LedgerWrite[],
): Promise<readonly WriteAnswer[]> {
  const Statements = writes.map((write) => toStatement(options.tableName, write))
  const { Responses = [] } = await options.client.send(new BatchExecuteStatementCommand({ Statements }))
  const refused = writes.filter((_, n) => isRefused(Responses[n]) && Responses[n]?.Error?.Item === undefined)
  const rows = await readRows(options, refused.map(keyOf)).catch(() => undefined)
  return writes.map((write, n) =>
    toAnswer(Responses[n], rows === undefined ? 'not-read' : rows.get(keyText(keyOf(write)))),
  )
}

/** Every statement has an answer of its own in a 200: one that is missing was not applied, as far as anybody knows. */
function toAnswer(response: BatchStatementResponse | undefined, read: Item | 'not-read' | undefined): WriteAnswer {
  if (response === undefined) return { status: 'failed', reason: 'NoAnswer', retryable: true }
  const { Error: error } = response
  if (error === undefined) return { status: 'applied' }
  if (!isRefused(response)) {
    const { Code: reason = 'Error' } = error
    return { status: 'failed', reason, retryable: PASSING.has(reason) }
  }
  const item = error.Item ?? read
  if (item === 'not-read') return { status: 'failed', reason: 'RowNotRead', retryable: false }
  if (item === undefined) return { status: 'refused', entry: undefined }
  const entry = fromItem(item)
  return entry === undefined
    ? { status: 'failed', reason: 'UnreadableRow', retryable: false }
    : { status: 'refused', entry }
}

/** An INSERT says `DuplicateItem`, an UPDATE `ConditionalCheckFailed`, also where there is no row at all. */
function isRefused(response: BatchStatementResponse | undefined): boolean {
  const code = response?.Error?.Code
  return code === 'ConditionalCheckFailed' || code === 'DuplicateItem'
}

/** Consistent; rows left unprocessed are asked for again, a few times. Undefined if some could not be read. */
async function readRows(
  options: DynamoStoreOptions,
  keys: readonly EntryKey[],
): Promise<ReadonlyMap<string, Item> | undefined> {
  const { client, tableName, clock } = options
  const rows = new Map<string, Item>()
  if (keys.length === 0) return rows
  let asked: KeysAndAttributes = {
    Keys: keys.map(({ id, name }) => ({ pk: { S: id }, sk: { S: name } })),
    ConsistentRead: true,
  }
  for (let tries = 1; tries <= MAX_READS; tries++) {
    const answer = await client.send(new BatchGetItemCommand({ RequestItems: { [tableName]: asked } }))
    for (const item of answer.Responses?.[tableName] ?? []) {
      rows.set(keyText({ id: item['pk']?.S ?? '', name: item['sk']?.S ?? '' }), item)
    }
    const left = answer.UnprocessedKeys?.[tableName]
    if (left?.Keys === undefined || left.Keys.length === 0) return rows
    asked = left
    await clock.sleep(jitter(tries, clock.random))
  }
  return undefined
}

/** An error of the whole request, after the SDK's own tries: each of its writes may or may not have been applied. */
function failedWith(error: unknown): WriteAnswer {
  return { status: 'failed', reason: errorName(error), retryable: false }
}

/** Names hold no space, so the last one ends the id. */
function keyText({ id, name }: EntryKey): string {
  return `${id} ${name}`
}
