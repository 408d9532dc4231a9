import { DeleteTableCommand, DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'

/** Deletes tables that were created in a DynamoDB that runs on. */
export async function deleteTables(client: DynamoDBClient, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((TableName) => client.send(new DeleteTableCommand({ TableName }))))
}

/** ARN of a table's stream; undefined if it has none. */
export async function streamArnOf(client: DynamoDBClient, TableName: string): Promise<string | undefined> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }))
  return Table?.LatestStreamArn
}
