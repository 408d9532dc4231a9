import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DeleteTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
} from '@aws-sdk/client-dynamodb'
import { LEDGER_TABLE, OUTBOX_TABLE, type TableDefinition } from '../tables.ts'

export type TableNames = { readonly outboxTable: string; readonly ledgerTable: string }

/** Creates both tables from their one definition. Engines have them ready at once. */
export async function createLocalTables(
  client: DynamoDBClient,
  { outboxTable, ledgerTable }: TableNames,
): Promise<void> {
  await Promise.all([
    client.send(new CreateTableCommand(tableInput(outboxTable, OUTBOX_TABLE))),
    client.send(new CreateTableCommand(tableInput(ledgerTable, LEDGER_TABLE))),
  ])
}

export async function deleteLocalTables(
  client: DynamoDBClient,
  { outboxTable, ledgerTable }: TableNames,
): Promise<void> {
  await Promise.all([outboxTable, ledgerTable].map((TableName) => client.send(new DeleteTableCommand({ TableName }))))
}

/** ARN of a table's stream; undefined if it has none. */
export async function streamArnOf(client: DynamoDBClient, TableName: string): Promise<string | undefined> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  return Table?.LatestStreamArn
}

function tableInput(
  TableName: string,
  { partitionKey, sortKey, stream, index }: TableDefinition,
): CreateTableCommandInput {
  const keys = [partitionKey, sortKey, ...(index === undefined ? [] : [index.partitionKey, index.sortKey])]
  const schema = (hash: string, range: string): CreateTableCommandInput['KeySchema'] => [
    { AttributeName: hash, KeyType: 'HASH' },
    { AttributeName: range, KeyType: 'RANGE' },
  ]
  return {
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: keys.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
    KeySchema: schema(partitionKey.name, sortKey.name),
    ...(stream === undefined ? {} : { StreamSpecification: { StreamEnabled: true, StreamViewType: stream } }),
    ...(index === undefined
      ? {}
      : {
          GlobalSecondaryIndexes: [
            {
              IndexName: index.name,
              KeySchema: schema(index.partitionKey.name, index.sortKey.name),
              Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: [...index.include] },
            },
          ],
        }),
  }
}
