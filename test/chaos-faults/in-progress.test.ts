import {
  BatchExecuteStatementCommand,
  GetItemCommand,
  QueryCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createManualClock } from '../../src/testing/index.ts'
import { CALM } from '../chaos/faults/rates.ts'
import { type LayerWorld, startLayerWorld } from './layer-world.ts'

/** Only moved by hand: a transaction is in progress until the test ends it. */
const clock = createManualClock()
let world: LayerWorld
let groups = 0

beforeAll(async () => {
  world = await startLayerWorld(clock)
})
afterAll(async () => {
  await world.stop()
})

const ROWS = 8
const held = (): number => world.layer.coverage().faults['transaction in progress'] ?? 0

/** Inserts eight rows of one partition in one transaction that stays in progress until `end`. */
async function beginTransaction() {
  const { aws, clientsOf, layer } = world
  const TableName = aws.outboxTable
  const pk = { S: `G#s/torn-${++groups}` }
  const items = Array.from({ length: ROWS }, (_, n) => ({ pk, sk: { S: String(n).padStart(16, '0') } }))
  const send = () =>
    clientsOf('writer-1').dynamo.send(
      new TransactWriteItemsCommand({
        ClientRequestToken: `token-${groups}`,
        TransactItems: items.map((Item) => ({
          Put: { TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' },
        })),
      }),
    )
  layer.setRates({ ...CALM, inProgress: 1 })
  const before = held()
  const answer = send()
  await expect.poll(held, { interval: 1 }).toBe(before + 1)
  const { dynamo } = clientsOf('reader-1')
  const query = async (more: object = {}) => {
    const { Items = [], LastEvaluatedKey } = await dynamo.send(
      new QueryCommand({
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ...more,
      }),
    )
    return { sks: Items.map(({ sk }) => Number(sk?.S)), more: LastEvaluatedKey !== undefined }
  }
  const end = async () => {
    await layer.quiet()
    await answer
  }
  return { items, send, end, query, dynamo, TableName }
}

const nameOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'answered',
    (error: { name: string }) => error.name,
  )

describe('A transaction in progress', () => {
  it('shows some of its rows, then more, and all in the end', async () => {
    const { query, end } = await beginTransaction()
    const seen: number[][] = []
    for (let n = 0; n < 8; n++) seen.push((await query()).sks)
    await end()
    expect(seen[0]?.length).toBeLessThan(ROWS)
    for (const [n, rows] of seen.entries())
      expect((seen[n + 1] ?? rows).filter((row) => rows.includes(row))).toEqual(rows)
    expect((await query()).sks).toHaveLength(ROWS)
  })

  it('fills a page with the rows that show, and says where to go on', async () => {
    const { query, end } = await beginTransaction()
    const page = await query({ Limit: 2, ScanIndexForward: false })
    const all = (await query()).sks
    await end()
    expect(page.sks).toHaveLength(2)
    expect(all).toEqual(expect.arrayContaining(page.sks))
    expect(page.more).toBe(true)
  })

  it('hides from a get what it hides from a query', async () => {
    const { query, items, dynamo, TableName, end } = await beginTransaction()
    const { sks } = await query()
    const shown = await Promise.all(
      items.map(async (Key) => (await dynamo.send(new GetItemCommand({ TableName, Key }))).Item !== undefined),
    )
    await end()
    expect(shown.filter(Boolean).length).toBeLessThan(ROWS)
    for (const sk of sks) expect(shown[sk]).toBe(true)
  })

  it('conflicts with whoever writes one of its items, or reads it in a transaction', async () => {
    const { items, dynamo, TableName, end, send } = await beginTransaction()
    const [Key = {}] = items
    const put = { Put: { TableName, Item: Key } }
    const UpdateExpression = 'SET a = :a'
    const ExpressionAttributeValues = { ':a': { S: 'b' } }
    const names = await Promise.all([
      nameOf(dynamo.send(new UpdateItemCommand({ TableName, Key, UpdateExpression, ExpressionAttributeValues }))),
      nameOf(dynamo.send(new TransactWriteItemsCommand({ TransactItems: [put] }))),
      nameOf(dynamo.send(new TransactGetItemsCommand({ TransactItems: [{ Get: { TableName, Key } }] }))),
      nameOf(send()),
    ])
    const { Responses } = await dynamo.send(
      new BatchExecuteStatementCommand({
        Statements: items.slice(0, 2).map(({ pk, sk }) => ({
          Statement: `UPDATE "${TableName}" SET "a" = ? WHERE "pk" = ? AND "sk" = ?`,
          Parameters: [{ S: 'b' }, pk, sk],
        })),
      }),
    )
    await end()
    expect(names).toEqual([
      'TransactionConflictException',
      'TransactionCanceledException',
      'TransactionCanceledException',
      'TransactionInProgressException',
    ])
    expect(Responses?.map(({ Error: error }) => error?.Code)).toEqual(['TransactionConflict', 'TransactionConflict'])
  })

  it('is over when all is quiet', async () => {
    const { query, end } = await beginTransaction()
    await end()
    expect((await query()).sks).toHaveLength(ROWS)
  })
})

describe('A row that was inserted just now', () => {
  it('may be missed by a read that asks for no consistency, and by no other', async () => {
    const { items, dynamo, TableName, end } = await beginTransaction()
    await end()
    world.layer.setRates({ ...CALM, staleRead: 1 })
    const [Key = {}] = items
    const get = async (ConsistentRead: boolean) =>
      (await dynamo.send(new GetItemCommand({ TableName, Key, ConsistentRead }))).Item !== undefined
    expect(await get(false)).toBe(false)
    expect(await get(true)).toBe(true)
    await clock.advance(5000)
    expect(await get(false)).toBe(true)
  })
})
