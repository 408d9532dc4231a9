import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  CreateTableCommand,
  type DynamoDBClient,
  PutItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTableInput } from '../../src/outbox/table-input.ts'
import { LEDGER_TABLE, OUTBOX_TABLE } from '../../src/tables.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { type Meter, meterDynamo } from './meter.ts'

/**
 * What the cost figures rest on: that the engine counts units by DynamoDB's rules. Two write units per KB in a
 * transaction, one for each index entry written or removed, half a read unit per 4 KB where a read may be stale.
 */
let dynamo: TestDynamo
let client: DynamoDBClient
let meter: Meter
let outbox: string
let ledger: string

beforeAll(async () => {
  dynamo = await startDynamo()
  outbox = dynamo.tableName('outbox')
  ledger = dynamo.tableName('ledger')
  await dynamo.client.send(new CreateTableCommand(createTableInput(outbox, OUTBOX_TABLE)))
  await dynamo.client.send(new CreateTableCommand(createTableInput(ledger, LEDGER_TABLE)))
  client = dynamo.newClient()
  meter = meterDynamo(client)
})
afterAll(() => dynamo.stop())
beforeEach(() => meter.reset())

const row = (pk: string, bytes = 500) => ({
  pk: { S: pk },
  sk: { S: '-' },
  shard: { S: 'p#00' },
  due: { N: '1' },
  body: { S: 'x'.repeat(bytes) },
})

const transact = (...Items: readonly ReturnType<typeof row>[]) =>
  client.send(
    new TransactWriteItemsCommand({ TransactItems: Items.map((Item) => ({ Put: { TableName: outbox, Item } })) }),
  )

const mark = (pk: string) => ({
  Statement: `UPDATE "${outbox}" SET "expires" = ? REMOVE "shard" WHERE "pk" = ? AND "sk" = ? AND "shard" = ?`,
  Parameters: [{ N: '1' }, { S: pk }, { S: '-' }, { S: 'p#00' }],
})

const claim = (pk: string) => ({
  Statement: `INSERT INTO "${ledger}" VALUE {'pk': ?, 'sk': ?}`,
  Parameters: [{ S: pk }, { S: 'consumer/handler' }],
})

describe('the units that the engine counts', () => {
  it('are two a KB for a row in a transaction, and one for its index entry', async () => {
    await transact(row('a'))
    expect(meter.read()).toMatchObject({ requests: 1, writeUnits: 3, readUnits: 0 })
    await transact(row('b', 1500), row('c'))
    expect(meter.read()).toMatchObject({ requests: 2, writeUnits: 3 + 5 + 3 })
  })

  it('are one for a mark and one for the index entry that it removes, of each statement of a request', async () => {
    for (const pk of ['d', 'e']) await dynamo.client.send(new PutItemCommand({ TableName: outbox, Item: row(pk) }))
    await client.send(new BatchExecuteStatementCommand({ Statements: [mark('d'), mark('e')] }))
    expect(meter.read()).toMatchObject({ requests: 1, writeUnits: 4, refused: 0 })
  })

  it('are one for a claim, and one for a refused claim, whether all of a request are refused or some', async () => {
    await client.send(new BatchExecuteStatementCommand({ Statements: [claim('f')] }))
    expect(meter.read()).toMatchObject({ writeUnits: 1, refused: 0 })
    await client.send(new BatchExecuteStatementCommand({ Statements: [claim('f')] }))
    expect(meter.read()).toMatchObject({ writeUnits: 2, refused: 1 })
    meter.reset()
    await client.send(new BatchExecuteStatementCommand({ Statements: ['f', 'g', 'f2'].map(claim) }))
    await client.send(new BatchExecuteStatementCommand({ Statements: ['f', 'g', 'h', 'f2'].map(claim) }))
    expect(meter.read()).toMatchObject({ writeUnits: 7, refused: 4 })
  })

  it('are half a read unit for 4 KB that may be stale, one for 4 KB that may not, two in a transaction', async () => {
    for (const pk of ['h', 'i'])
      await dynamo.client.send(new PutItemCommand({ TableName: outbox, Item: row(pk, 3000) }))
    const keys = ['h', 'i'].map((pk) => ({ pk: { S: pk }, sk: { S: '-' } }))
    await client.send(new BatchGetItemCommand({ RequestItems: { [outbox]: { Keys: keys } } }))
    expect(meter.read().readUnits).toBe(1)
    const query = {
      TableName: outbox,
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: 'h' } },
    }
    await client.send(new QueryCommand({ ...query, ConsistentRead: true }))
    expect(meter.read().readUnits).toBe(2)
    await client.send(
      new TransactGetItemsCommand({ TransactItems: keys.map((Key) => ({ Get: { TableName: outbox, Key } })) }),
    )
    expect(meter.read().readUnits).toBe(6)
  })

  it('are half a unit for a shard of the index that is empty', async () => {
    const shard = { '#shard': 'shard' }
    await client.send(
      new QueryCommand({
        TableName: outbox,
        IndexName: 'pending',
        KeyConditionExpression: '#shard = :shard',
        ExpressionAttributeNames: shard,
        ExpressionAttributeValues: { ':shard': { S: 'p#63' } },
      }),
    )
    expect(meter.read()).toMatchObject({ requests: 1, readUnits: 0.5, writeUnits: 0 })
  })
})
