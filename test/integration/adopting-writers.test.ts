import { type AttributeValue, CreateTableCommand, ScanCommand, type TransactWriteItem } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { Table as OneTable } from 'dynamodb-onetable'
import { Dynamo } from 'dynamodb-onetable/Dynamo'
import { Entity as ToolboxEntity } from 'dynamodb-toolbox/entity'
import { PutTransaction } from 'dynamodb-toolbox/entity/actions/transactPut'
import { UpdateTransaction } from 'dynamodb-toolbox/entity/actions/transactUpdate'
import { item } from 'dynamodb-toolbox/schema/item'
import { number } from 'dynamodb-toolbox/schema/number'
import { string } from 'dynamodb-toolbox/schema/string'
import { Table as ToolboxTable } from 'dynamodb-toolbox/table'
import { Entity as ElectroEntity } from 'electrodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'

let dynamo: TestDynamo
beforeAll(async () => {
  dynamo = await startDynamo()
})
afterAll(() => dynamo.stop())

let orders: string
let outboxTable: string
beforeEach(async () => {
  orders = dynamo.tableName('orders')
  outboxTable = dynamo.tableName('outbox')
  await createTables({ client: dynamo.client, outboxTable })
  await dynamo.client.send(
    new CreateTableCommand({
      TableName: orders,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
    }),
  )
})

const native = () =>
  createOutbox({ documentClient: DynamoDBDocumentClient.from(dynamo.client), tableName: outboxTable })
const placed = (orderId: string) => ({
  source: 'shop',
  type: 'order.placed',
  key: `order/${orderId}`,
  data: { orderId },
})

async function scan(TableName: string): Promise<Record<string, unknown>[]> {
  const { Items = [] } = await dynamo.client.send(new ScanCommand({ TableName, ConsistentRead: true }))
  return Items.map((one: Record<string, AttributeValue>) => unmarshall(one))
}

/** Both or neither: the second call's write must fail by a condition of the library's own. */
async function provesOneTransaction(place: (orderId: string, total: number, key?: string) => Promise<unknown>) {
  await place('o-1', 42)
  expect(await scan(orders)).toEqual([expect.objectContaining({ total: 42 })])
  expect(await scan(outboxTable)).toEqual([expect.objectContaining({ type: 'order.placed' })])
  await expect(place('o-1', 43, 'another-event')).rejects.toMatchObject({ code: 'CONDITION_FAILED' })
  expect(await scan(orders)).toEqual([expect.objectContaining({ total: 42 })])
  expect(await scan(outboxTable)).toHaveLength(1)
}

describe('writes of other libraries are one transaction with the event', () => {
  it('DocumentClient', () =>
    provesOneTransaction((orderId, total, key = orderId) =>
      native().transact({
        writes: [
          {
            Put: {
              TableName: orders,
              Item: { pk: `order#${orderId}`, sk: '-', total },
              ConditionExpression: 'attribute_not_exists(pk)',
            },
          },
        ],
        events: [placed(key)],
      }),
    ))

  it('ElectroDB', async () => {
    const Order = new ElectroEntity(
      {
        model: { service: 'shop', entity: 'order', version: '1' },
        attributes: { orderId: { type: 'string', required: true }, total: { type: 'number', required: true } },
        indexes: {
          order: { pk: { field: 'pk', composite: ['orderId'] }, sk: { field: 'sk', composite: [] } },
        },
      },
      { table: orders },
    )
    await provesOneTransaction((orderId, total, key = orderId) =>
      native().transact({ writes: [{ Put: Order.create({ orderId, total }).params() }], events: [placed(key)] }),
    )
    await native().transact({
      writes: [{ Update: Order.patch({ orderId: 'o-1' }).add({ total: 8 }).params() }],
      events: [placed('changed')],
    })
    expect(await scan(orders)).toEqual([expect.objectContaining({ total: 50 })])
  })

  it('dynamodb-toolbox', async () => {
    const table = new ToolboxTable({
      name: orders,
      partitionKey: { name: 'pk', type: 'string' },
      sortKey: { name: 'sk', type: 'string' },
    })
    const Order = new ToolboxEntity({
      name: 'order',
      table,
      schema: item({ pk: string().key(), sk: string().key(), total: number() }),
    })
    await provesOneTransaction((orderId, total, key = orderId) => {
      const put = Order.build(PutTransaction)
        .item({ pk: `order#${orderId}`, sk: '-', total })
        .options({ condition: { attr: 'pk', exists: false } })
      return native().transact({ writes: [put.params()], events: [placed(key)] })
    })
    const update = Order.build(UpdateTransaction).item({ pk: 'order#o-1', sk: '-', total: 50 })
    await native().transact({ writes: [update.params()], events: [placed('changed')] })
    expect(await scan(orders)).toEqual([expect.objectContaining({ total: 50 })])
  })

  it('OneTable', async () => {
    const table = new OneTable({
      name: orders,
      client: new Dynamo({ client: dynamo.client }),
      partial: false,
      schema: {
        version: '0.0.1',
        format: 'onetable:1.1.0',
        indexes: { primary: { hash: 'pk', sort: 'sk' } },
        models: {
          Order: {
            // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of OneTable's own
            pk: { type: String, value: 'order#${orderId}' },
            sk: { type: String, value: '-' },
            orderId: { type: String, required: true },
            total: { type: Number, required: true },
          },
        },
      },
    })
    const Order = table.getModel('Order')
    const outbox = createOutbox({ client: dynamo.client, tableName: outboxTable })
    await provesOneTransaction(async (orderId, total, key = orderId) => {
      const transaction: { TransactItems?: TransactWriteItem[] } = {}
      await Order.create({ orderId, total }, { transaction })
      return outbox.transact({ writes: transaction.TransactItems ?? [], events: [placed(key)] })
    })
  })
})
