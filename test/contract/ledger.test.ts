import { DeleteItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll } from 'vitest'
import { createClaims } from '../../src/ledger/claims.ts'
import { createDynamoStore } from '../../src/ledger/dynamo-store.ts'
import type { EntryKey } from '../../src/ledger/entry.ts'
import { fromItem } from '../../src/ledger/statements.ts'
import { testClock } from '../support/clock.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { createLedgerTable } from '../support/ledger-table.ts'
import { createMemoryLedgerStore } from '../support/memory-ledger-store.ts'
import { describeLedger, KEEP_SECONDS } from './ledger-contract.ts'

let dynamo: TestDynamo
let tableName: string

beforeAll(async () => {
  dynamo = await startDynamo()
  tableName = await createLedgerTable(dynamo)
})
afterAll(() => dynamo.stop())

describeLedger('in memory', async () => {
  const clock = testClock()
  const store = createMemoryLedgerStore()
  return {
    ledger: createClaims({ store, clock, keepSeconds: KEEP_SECONDS }),
    clock,
    read: async (key) => store.read(key),
    remove: async (key) => store.remove(key),
  }
})

describeLedger('DynamoDB', async () => {
  const clock = { ...testClock(), id: () => crypto.randomUUID() }
  const { client } = dynamo
  const store = createDynamoStore({ client, tableName, clock })
  const input = ({ id, name }: EntryKey) => ({ TableName: tableName, Key: { pk: { S: id }, sk: { S: name } } })
  return {
    ledger: createClaims({ store, clock, keepSeconds: KEEP_SECONDS }),
    clock,
    read: async (key) => {
      const { Item } = await client.send(new GetItemCommand({ ...input(key), ConsistentRead: true }))
      return Item === undefined ? undefined : fromItem(Item)
    },
    remove: async (key) => void (await client.send(new DeleteItemCommand(input(key)))),
  }
})
