import {
  type DynamoDBClient,
  GetItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  UpdateItemCommand,
  type UpdateItemCommandInput,
} from '@aws-sdk/client-dynamodb'
import { errorName } from '../errors.ts'
import { type AttributeItem, marshalItem, plainItem } from './attribute-form.ts'
import type { ChangeAnswer, PullChange, PullStore } from './pull-store.ts'
import { groupQuery, type IndexEntry, indexQuery, itemKey, pairRead } from './row-queries.ts'

/** Rows in DynamoDB. The client's own retries cover throttling and lost connections. */
export function createDynamoPullStore(client: DynamoDBClient, tableName: string): PullStore {
  return {
    readIndex: async (range) => {
      const { Items = [], LastEvaluatedKey } = await client.send(new QueryCommand(indexQuery(tableName, range)))
      return { entries: Items.flatMap(indexEntry), more: LastEvaluatedKey !== undefined }
    },
    readRow: async (key) => {
      const command = new GetItemCommand({ TableName: tableName, Key: itemKey(key), ConsistentRead: true })
      const { Item } = await client.send(command)
      return Item === undefined ? undefined : plainItem(Item)
    },
    readGroup: async (range) => {
      const { Items = [], LastEvaluatedKey } = await client.send(new QueryCommand(groupQuery(tableName, range)))
      return { rows: Items.map(plainItem), more: LastEvaluatedKey !== undefined }
    },
    readBefore: async (pair) => {
      try {
        const { Responses } = await client.send(new TransactGetItemsCommand(pairRead(tableName, pair)))
        return Responses?.[0]?.Item === undefined ? 'absent' : 'present'
      } catch (error) {
        if (errorName(error) === 'TransactionCanceledException') return 'busy'
        throw error
      }
    },
    change: async (change) => {
      try {
        await client.send(new UpdateItemCommand(changeInput(tableName, change)))
        return { status: 'landed' }
      } catch (error) {
        if (errorName(error) === 'ConditionalCheckFailedException') return gone(error)
        throw error
      }
    },
  }
}

/** What stands there comes with the error, so that a write whose answer was lost is known by its token. */
function gone(error: unknown): ChangeAnswer {
  const { Item } = error as { readonly Item?: AttributeItem }
  return { status: 'gone', row: Item === undefined ? undefined : plainItem(Item) }
}

/** `#` and `:` before the attribute's own name; `:was-…` would be no name, so what is expected has a letter in front. */
function changeInput(tableName: string, { key, expect, set, remove }: PullChange): UpdateItemCommandInput {
  const guards = Object.entries(expect).map(([name, value]) =>
    value === undefined ? `attribute_not_exists(#${name})` : `#${name} = :was_${name}`,
  )
  const expected = Object.entries(expect).flatMap(([name, value]) =>
    value === undefined ? [] : [[`was_${name}`, value]],
  )
  const names = [...new Set([...Object.keys(expect), ...Object.keys(set), ...remove])]
  const assignments = Object.keys(set).map((name) => `#${name} = :${name}`)
  const removal = remove.length === 0 ? '' : ` REMOVE ${remove.map((name) => `#${name}`).join(', ')}`
  return {
    TableName: tableName,
    Key: itemKey(key),
    UpdateExpression: `SET ${assignments.join(', ')}${removal}`,
    ConditionExpression: guards.join(' AND '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    ExpressionAttributeValues: colonised({ ...set, ...Object.fromEntries(expected) }),
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  }
}

function colonised(values: Readonly<Record<string, string | number>>) {
  const named = Object.entries(values).map(([name, value]): [string, string | number] => [`:${name}`, value])
  return marshalItem(Object.fromEntries(named))
}

function indexEntry(item: AttributeItem): IndexEntry[] {
  const { pk, sk, due, created } = plainItem(item)
  if (typeof pk !== 'string' || typeof sk !== 'string' || typeof due !== 'number') return []
  return [{ pk, sk, due, ...(typeof created === 'number' ? { created } : {}) }]
}
