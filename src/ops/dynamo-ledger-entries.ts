import { type AttributeValue, type DynamoDBClient, QueryCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { errorName } from '../errors.ts'
import { type Entry, type EntryKey, parseEntry } from '../ledger/entry.ts'
import { type HistoryEntry, readHistory } from './history.ts'

/** What a handler has made of an event, and what operators did. */
export type LedgerEntry = Entry & { readonly history: readonly HistoryEntry[] }

export type LedgerTable = { readonly dynamo: DynamoDBClient; readonly tableName: string }

/** All handlers' entries of an event, consistently read, expired ones included. Rows of others are left out. */
export async function readEntries({ dynamo, tableName }: LedgerTable, eventId: string): Promise<LedgerEntry[]> {
  const found: LedgerEntry[] = []
  let from: Record<string, AttributeValue> | undefined
  do {
    const page = await dynamo.send(
      new QueryCommand({
        TableName: tableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :id',
        ExpressionAttributeValues: { ':id': { S: eventId } },
        ...(from === undefined ? {} : { ExclusiveStartKey: from }),
      }),
    )
    for (const item of page.Items ?? []) {
      const row = unmarshall(item)
      const entry = parseEntry(row)
      if (entry !== undefined) found.push({ ...entry, history: readHistory(row['history']) })
    }
    from = page.LastEvaluatedKey
  } while (from !== undefined)
  return found
}

/** Adds an operator's act to an entry. False if there is no such entry: nothing is recorded for what never ran. */
export function recordAct(table: LedgerTable, key: EntryKey, act: HistoryEntry): Promise<boolean> {
  return changeEntry(table, key, {
    UpdateExpression: 'SET #history = list_append(if_not_exists(#history, :none), :act)',
    ExpressionAttributeNames: { '#history': 'history' },
    ExpressionAttributeValues: { ':none': { L: [] }, ':act': { L: [{ M: marshall(act) }] } },
  })
}

/** Takes every text out of an entry that may tell of the event's data, and keeps what came of it. */
export function forgetEntry(table: LedgerTable, key: EntryKey, act: HistoryEntry): Promise<boolean> {
  return changeEntry(table, key, {
    UpdateExpression: 'SET #history = :act REMOVE #failure',
    ExpressionAttributeNames: { '#history': 'history', '#failure': 'failure' },
    ExpressionAttributeValues: { ':act': { L: [{ M: marshall(act) }] } },
  })
}

type Change = {
  readonly UpdateExpression: string
  readonly ExpressionAttributeNames: Record<string, string>
  readonly ExpressionAttributeValues: Record<string, AttributeValue>
}

/** Only what no claim ever writes is touched, so that a worker's write before or after it changes nothing here. */
async function changeEntry(
  { dynamo, tableName }: LedgerTable,
  { id, name }: EntryKey,
  change: Change,
): Promise<boolean> {
  const Key = { pk: { S: id }, sk: { S: name } }
  try {
    await dynamo.send(
      new UpdateItemCommand({ TableName: tableName, Key, ConditionExpression: 'attribute_exists(pk)', ...change }),
    )
    return true
  } catch (error) {
    if (errorName(error) === 'ConditionalCheckFailedException') return false
    throw error
  }
}
