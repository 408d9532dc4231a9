import { type AttributeValue, CreateTableCommand, GetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, type TranslateConfig } from '@aws-sdk/lib-dynamodb'
import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import type { ClientKind, ClientWrite } from '../../src/outbox/client-write.ts'
import { createCommitter, createOutbox, type Outbox } from '../../src/outbox/create-outbox.ts'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import { type TestClock, testClock } from './clock.ts'
import type { TestDynamo } from './dynamo.ts'
import { addFaults, type Faults } from './faults.ts'

type Item = Record<string, unknown>

/** An outbox beside a table of orders (key `id`), through one kind of client, with faults. */
export type Shop = {
  readonly kind: ClientKind
  readonly outbox: Outbox
  readonly clock: TestClock
  readonly faults: Faults
  readonly outboxTable: string
  readonly ordersTable: string
  /** An outbox of the same tables in another process: its own client, without faults. */
  readonly other: Outbox
  readonly committer: ReturnType<typeof createCommitter>
  /** Puts an order that does not exist yet. */
  readonly newOrder: (id: string, more?: Item) => ClientWrite
  /** Adds 1 to an order's `count`. */
  readonly increment: (id: string) => ClientWrite
  readonly order: (id: string) => Promise<Item | undefined>
  readonly rows: () => Promise<readonly Item[]>
  /** Rows as DynamoDB holds them. */
  readonly rawRows: () => Promise<readonly Record<string, AttributeValue>[]>
}

type ShopOptions = {
  readonly kind: ClientKind
  readonly clock?: TestClock
  readonly translate?: TranslateConfig
  readonly traceparent?: () => string | undefined
}

export async function openShop(
  dynamo: TestDynamo,
  { kind, clock = testClock(), translate, traceparent }: ShopOptions,
): Promise<Shop> {
  const outboxTable = dynamo.tableName('outbox')
  const ordersTable = dynamo.tableName('orders')
  await createTables({ client: dynamo.client, outboxTable })
  await dynamo.client.send(
    new CreateTableCommand({
      TableName: ordersTable,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  )
  const client = dynamo.newClient()
  const faults = addFaults(client)
  const choice = (of = client) =>
    kind === 'client' ? { client: of } : { documentClient: DynamoDBDocumentClient.from(of, translate) }
  const options = { tableName: outboxTable, clock, ...(traceparent === undefined ? {} : { traceparent }) }
  const values = (item: Item) => (kind === 'client' ? marshall(item) : item)
  const scan = async () => (await dynamo.client.send(new ScanCommand({ TableName: outboxTable }))).Items ?? []
  return {
    kind,
    clock,
    faults,
    outboxTable,
    ordersTable,
    outbox: createOutbox({ ...choice(), ...options } as never),
    other: createOutbox({ ...choice(dynamo.client), ...options } as never),
    committer: createCommitter({ ...choice(), clock }),
    newOrder: (id, more = {}) =>
      ({
        Put: {
          TableName: ordersTable,
          Item: values({ id, ...more }),
          ConditionExpression: 'attribute_not_exists(id)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        },
      }) as ClientWrite,
    increment: (id) =>
      ({
        Update: {
          TableName: ordersTable,
          Key: values({ id }),
          UpdateExpression: 'ADD #count :one',
          ExpressionAttributeNames: { '#count': 'count' },
          ExpressionAttributeValues: values({ ':one': 1 }),
        },
      }) as ClientWrite,
    order: async (id) => {
      const Key = { id: { S: id } }
      const { Item } = await dynamo.client.send(
        new GetItemCommand({ TableName: ordersTable, Key, ConsistentRead: true }),
      )
      return Item === undefined ? undefined : unmarshall(Item)
    },
    rows: async () => (await scan()).map((item) => unmarshall(item)),
    rawRows: scan,
  }
}
