import type { AttributeValue, DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { systemClock } from '../../../src/clock.ts'
import { createLedger } from '../../../src/ledger/dynamo-ledger.ts'
import { fromItem } from '../../../src/ledger/statements.ts'
import { createDynamoRowStore } from '../../../src/relay/dynamo-row-store.ts'
import { describeLedger } from '../../contract/ledger-contract.ts'
import { rowStoreContract } from '../../contract/row-store-contract.ts'
import { testClock } from '../../support/clock.ts'
import { createModelDynamo } from './engine/dynamo.ts'
import { keyOf } from './engine/table.ts'

/** The model of DynamoDB without latency or luck: what the engines must do, it must do too. */
function startModel(tableName: string) {
  const later = (_: number, happen: () => void): (() => void) => {
    setImmediate(happen)
    return () => {}
  }
  const scheduler = { now: systemClock.now, in: later }
  const wire = { call: async (_: unknown, { apply }: { apply: () => unknown }) => apply() }
  const options = {
    scheduler,
    luck: () => 0,
    wire: wire as never,
    region: 'us-east-1',
    describe: () => undefined,
    onRead: () => {},
    onRefused: () => {},
  }
  const dynamo = createModelDynamo({ ...options, tables: [tableName] })
  return { client: dynamo.clientFor(undefined as never) as DynamoDBClient, table: dynamo.table(tableName) }
}

const slotKey = (pk: string, sk: string): string => keyOf({ pk: { S: pk }, sk: { S: sk } })

rowStoreContract('the model of DynamoDB', () => {
  const { client, table } = startModel('rows')
  return {
    store: createDynamoRowStore({ client, tableName: 'rows', clock: systemClock }),
    put: (image) => table.change(keyOf(image as never), image as Record<string, AttributeValue>),
    get: async ({ pk, sk }) => table.slot(slotKey(pk, sk)).item,
  }
})

describeLedger('the model of DynamoDB', async () => {
  const { client, table } = startModel('ledger')
  const clock = { ...testClock(), id: () => crypto.randomUUID() }
  return {
    ledger: createLedger({ client, tableName: 'ledger', clock }),
    clock,
    read: async ({ id, name }) => {
      const { item } = table.slot(slotKey(id, name))
      return item === undefined ? undefined : fromItem(item)
    },
    remove: async ({ id, name }) => table.change(slotKey(id, name), undefined),
  }
})
