import { type AttributeValue, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import { createDynamoRowStore } from '../../src/relay/dynamo-row-store.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { addFaults, awsError, transactionCanceled } from '../support/faults.ts'
import { createMemoryRowStore } from '../support/memory-row-store.ts'
import { keyOfRow, unorderedRow } from '../support/outbox-rows.ts'
import { rowStoreContract } from './row-store-contract.ts'

let dynamo: TestDynamo
beforeAll(async () => {
  dynamo = await startDynamo()
})
afterAll(() => dynamo.stop())

rowStoreContract('in memory', () => {
  const store = createMemoryRowStore()
  return { store, put: store.put, get: store.get }
})

rowStoreContract('DynamoDB', async () => {
  const { client, tableName } = await newTable()
  const itemKey = ({ pk, sk }: { pk: string; sk: string }) => ({ pk: { S: pk }, sk: { S: sk } })
  return {
    store: createDynamoRowStore({ client, tableName, clock: systemClock }),
    put: (image) =>
      client.send(new PutItemCommand({ TableName: tableName, Item: image as Record<string, AttributeValue> })),
    get: async (key) =>
      (await client.send(new GetItemCommand({ TableName: tableName, Key: itemKey(key), ConsistentRead: true }))).Item,
  }
})

async function newTable() {
  const client = dynamo.newClient()
  const tableName = dynamo.tableName('rows')
  await createTables({ client, outboxTable: tableName })
  return { client, tableName }
}

describe('what no engine does, on DynamoDB', () => {
  const signal = new AbortController().signal
  const PAIR = { pk: 'G#a/g', before: '1', sk: '2' }

  it('takes a transaction under way on one of the two rows for a reason to read again', async () => {
    const { client, tableName } = await newTable()
    addFaults(client).next('TransactGetItemsCommand', { before: transactionCanceled('None', 'TransactionConflict') })
    const store = createDynamoRowStore({ client, tableName, clock: systemClock })
    expect(await store.readBefore(PAIR, signal)).toBe('busy')
  })

  it('throws any other error of that read', async () => {
    const { client, tableName } = await newTable()
    addFaults(client).next('TransactGetItemsCommand', { before: awsError('AccessDeniedException') })
    const store = createDynamoRowStore({ client, tableName, clock: systemClock })
    await expect(store.readBefore(PAIR, signal)).rejects.toMatchObject({ name: 'AccessDeniedException' })
  })

  const answering = (...answers: readonly object[]) => {
    const queue = [...answers]
    const inputs: unknown[] = []
    const client = {
      send: async (command: { input: unknown }) => {
        inputs.push(command.input)
        return queue.shift() ?? {}
      },
    }
    return {
      inputs,
      store: createDynamoRowStore({
        client: client as never,
        tableName: 'tbl',
        clock: { ...systemClock, sleep: async () => {} },
      }),
    }
  }

  it('accounts for every mark: what has no answer did not land, what is throttled may land later', async () => {
    const codes = ['ConditionalCheckFailed', 'TransactionConflict', 'ThrottlingError', 'AccessDenied', undefined]
    const { store } = answering({ Responses: [{}, ...codes.map((Code) => ({ Error: { Code } }))] })
    const marks = Array.from({ length: 8 }, (_, n) => ({
      pk: `k${n}`,
      sk: '-',
      shard: 'p#00',
      redrives: 0,
      redrivesStored: false,
      expires: 1,
    }))
    expect(await store.markRelayed(marks, signal)).toEqual([
      'landed',
      'gone',
      'busy',
      'busy',
      'failed',
      'failed',
      'failed',
      'failed',
    ])
  })

  it('asks again for the rows that a read left out', async () => {
    const [a, b] = [unorderedRow('a'), unorderedRow('b')]
    const left = { tbl: { Keys: [{ pk: b['pk'], sk: b['sk'] }] } }
    const { store, inputs } = answering({ Responses: { tbl: [a] }, UnprocessedKeys: left }, { Responses: { tbl: [b] } })
    expect(await store.readRows([keyOfRow(a), keyOfRow(b)], signal)).toEqual([a, b])
    expect(inputs[1]).toEqual({ RequestItems: { tbl: { Keys: left.tbl.Keys } } })
  })

  it('gives up on a table that keeps leaving rows out', async () => {
    const left = { tbl: { Keys: [{ pk: { S: 'a' }, sk: { S: '-' } }] } }
    const { store } = answering(...Array.from({ length: 10 }, () => ({ UnprocessedKeys: left })))
    await expect(store.readRows([{ pk: 'a', sk: '-' }], signal)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })
})
