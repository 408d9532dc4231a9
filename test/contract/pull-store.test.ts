import { GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import { createDynamoPullStore } from '../../src/outbox/dynamo-pull-store.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { addFaults, awsError, transactionCanceled } from '../support/faults.ts'
import { createMemoryPullStore } from '../support/memory-pull-store.ts'
import { pullStoreContract } from './pull-store-contract.ts'

let dynamo: TestDynamo
beforeAll(async () => {
  dynamo = await startDynamo()
})
afterAll(() => dynamo.stop())

pullStoreContract('in memory', () => {
  const store = createMemoryPullStore()
  return { store, put: store.put, get: store.get }
})

pullStoreContract('DynamoDB', async () => {
  const { client } = dynamo
  const tableName = dynamo.tableName('pull')
  await createTables({ client, outboxTable: tableName })
  return {
    store: createDynamoPullStore(client, tableName),
    put: (row) => client.send(new PutItemCommand({ TableName: tableName, Item: marshall(row) })),
    get: async (key) => {
      const command = new GetItemCommand({ TableName: tableName, Key: marshall(key), ConsistentRead: true })
      const { Item } = await client.send(command)
      return Item === undefined ? undefined : unmarshall(Item)
    },
  }
})

describe('what no engine does, on DynamoDB', () => {
  const PAIR = { pk: 'G#a/g', before: '1', sk: '2' }
  const storeWith = (error: Error) => {
    const client = dynamo.newClient()
    const faults = addFaults(client)
    faults.next('TransactGetItemsCommand', { before: error })
    faults.next('UpdateItemCommand', { before: error })
    return createDynamoPullStore(client, 'any')
  }

  it('takes a transaction under way on one of the two rows for a reason to look again', async () => {
    const store = storeWith(transactionCanceled('None', 'TransactionConflict'))
    expect(await store.readBefore(PAIR)).toBe('busy')
  })

  it('throws any other error', async () => {
    const refused = storeWith(awsError('AccessDeniedException'))
    const change = {
      key: { pk: 'a', sk: '-' },
      expect: { shard: 's', token: undefined, due: 1 },
      set: { due: 2 },
      remove: [],
    }
    await expect(refused.readBefore(PAIR)).rejects.toMatchObject({ name: 'AccessDeniedException' })
    await expect(refused.change(change)).rejects.toMatchObject({ name: 'AccessDeniedException' })
  })
})
