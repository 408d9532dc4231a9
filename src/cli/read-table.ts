import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  type KeySchemaElement,
  type TableDescription,
} from '@aws-sdk/client-dynamodb'
import type { TableFacts } from '../ops/deployment.ts'
import { whenThere } from './when-there.ts'

/** Undefined if there is no such table. */
export function readTable(client: DynamoDBClient, TableName: string): Promise<TableFacts | undefined> {
  return whenThere(async () => {
    const { Table = {} } = await client.send(new DescribeTableCommand({ TableName }))
    const { TimeToLiveDescription: expiry } = await client.send(new DescribeTimeToLiveCommand({ TableName }))
    const isOn = expiry?.TimeToLiveStatus === 'ENABLED' || expiry?.TimeToLiveStatus === 'ENABLING'
    return {
      name: TableName,
      keys: keysOf(Table.KeySchema, Table),
      timeToLive: isOn ? expiry.AttributeName : undefined,
      streamArn: Table.StreamSpecification?.StreamEnabled ? Table.LatestStreamArn : undefined,
      streamView: Table.StreamSpecification?.StreamViewType,
      indexes: (Table.GlobalSecondaryIndexes ?? []).map(({ IndexName = '', KeySchema, Projection }) => ({
        name: IndexName,
        keys: keysOf(KeySchema, Table),
        includes: Projection?.ProjectionType === 'ALL' ? ['*'] : (Projection?.NonKeyAttributes ?? []),
      })),
      stronglyConsistentReplicas: Table.MultiRegionConsistency === 'STRONG',
    }
  })
}

function keysOf(schema: readonly KeySchemaElement[] = [], { AttributeDefinitions = [] }: TableDescription): string[] {
  const types = new Map(AttributeDefinitions.map(({ AttributeName, AttributeType }) => [AttributeName, AttributeType]))
  return schema.map(({ AttributeName }) => `${AttributeName}:${types.get(AttributeName)}`)
}
