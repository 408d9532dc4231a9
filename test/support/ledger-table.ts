import { CreateTableCommand } from '@aws-sdk/client-dynamodb'
import { LEDGER_TABLE } from '../../src/tables.ts'
import type { TestDynamo } from './dynamo.ts'

/** A ledger table of its own. Answers its name. */
export async function createLedgerTable(dynamo: TestDynamo): Promise<string> {
  const TableName = dynamo.tableName('ledger')
  const { partitionKey, sortKey } = LEDGER_TABLE
  await dynamo.client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: partitionKey.name, KeyType: 'HASH' },
        { AttributeName: sortKey.name, KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [
        { AttributeName: partitionKey.name, AttributeType: partitionKey.type },
        { AttributeName: sortKey.name, AttributeType: sortKey.type },
      ],
    }),
  )
  return TableName
}
