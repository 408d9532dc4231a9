import { DeleteItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createClaims } from '../../src/ledger/claims.ts'
import { createLedger } from '../../src/ledger/dynamo-ledger.ts'
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

for (const kind of ['client', 'documentClient'] as const) {
  describeLedger(`DynamoDB through a ${kind}`, async () => {
    const clock = { ...testClock(), id: () => crypto.randomUUID() }
    const { client } = dynamo
    // Marshalling options of a document client are not for the ledger's own rows.
    const translate = { marshallOptions: { convertTopLevelContainer: true }, unmarshallOptions: { wrapNumbers: true } }
    const choice = kind === 'client' ? { client } : { documentClient: DynamoDBDocumentClient.from(client, translate) }
    const input = ({ id, name }: EntryKey) => ({ TableName: tableName, Key: { pk: { S: id }, sk: { S: name } } })
    return {
      ledger: createLedger({ ...choice, tableName, clock }),
      clock,
      read: async (key) => {
        const { Item } = await client.send(new GetItemCommand({ ...input(key), ConsistentRead: true }))
        return Item === undefined ? undefined : fromItem(Item)
      },
      remove: async (key) => void (await client.send(new DeleteItemCommand(input(key)))),
    }
  })
}

describe('createLedger', () => {
  const refused = (path: RegExp) =>
    expect.objectContaining({ code: 'INVALID_SETTING', message: expect.stringMatching(path) })

  it('refuses what would go wrong later', () => {
    const { client } = dynamo
    for (const name of ['a"b', '"abc', 'abc"', 'ab', 'x'.repeat(256), undefined]) {
      expect(() => createLedger({ client, tableName: name as string })).toThrow(refused(/tableName must be 3–255/))
    }
    expect(() => createLedger({ client, tableName, keepDays: 0 })).toThrow(refused(/keepDays .* days from 1 to 3650/))
    expect(() => createLedger({ client, tableName, ttl: 1 } as never)).toThrow(
      refused(/createLedger: "ttl" is not an option/),
    )
    expect(() => createLedger({ tableName } as never)).toThrow(refused(/client/))
  })

  it('says which form its commits take', () => {
    const { client } = dynamo
    expect(createLedger({ client, tableName }).kind).toBe('client')
    expect(createLedger({ documentClient: DynamoDBDocumentClient.from(client), tableName }).kind).toBe('documentClient')
  })
})
