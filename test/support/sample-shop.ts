import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { DynamoDBDocumentClient, GetCommand, PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb'

export type SampleShop = {
  readonly documentClient: DynamoDBDocumentClient
  readonly shopTable: string
  readonly stockUp: (sku: string, available: number) => Promise<unknown>
  readonly item: (pk: string) => Promise<Record<string, unknown> | undefined>
  readonly scan: (tableName: string) => Promise<readonly Record<string, unknown>[]>
}

/** The table of the sample, empty, and how to look into it. */
export async function createSampleShop(client: DynamoDBClient, shopTable: string): Promise<SampleShop> {
  await client.send(
    new CreateTableCommand({
      TableName: shopTable,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    }),
  )
  const documentClient = DynamoDBDocumentClient.from(client)
  return {
    documentClient,
    shopTable,
    stockUp: (sku, available) =>
      documentClient.send(new PutCommand({ TableName: shopTable, Item: { pk: `STOCK#${sku}`, available } })),
    item: async (pk) =>
      (await documentClient.send(new GetCommand({ TableName: shopTable, Key: { pk }, ConsistentRead: true }))).Item,
    scan: async (TableName) =>
      (await documentClient.send(new ScanCommand({ TableName, ConsistentRead: true }))).Items ?? [],
  }
}
