import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Engine, startDynamoEngine } from '../../src/testing/dynamo-engine.ts'
import { createClients } from './clients.ts'

/** Names of a table's key attributes, all of type text. */
export type KeyNames = readonly [partition: string, sort?: string]

/** Starts the embedded engine with empty tables and no streams. */
export async function startSmallEngine(tables: Readonly<Record<string, KeyNames>>): Promise<Engine> {
  const engine = await startDynamoEngine('')
  const { dynamo } = createClients('peer', { dynamo: engine.endpoint, sqs: engine.endpoint })
  for (const [name, keys] of Object.entries(tables)) await createTable(dynamo, name, keys)
  dynamo.destroy()
  return engine
}

async function createTable(dynamo: DynamoDBClient, TableName: string, [partition, sort]: KeyNames): Promise<void> {
  const names = sort === undefined ? [partition] : [partition, sort]
  await dynamo.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: names.map((AttributeName, n) => ({ AttributeName, KeyType: n === 0 ? 'HASH' : 'RANGE' })),
      AttributeDefinitions: names.map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    }),
  )
}
