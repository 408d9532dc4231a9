import type { CreateTableInput, TableDescription } from '@aws-sdk/client-dynamodb'
import type { TableDefinition } from '../tables.ts'

/** The `CreateTable` input of a definition: on demand, with its index and stream. */
export function createTableInput(tableName: string, definition: TableDefinition): CreateTableInput {
  const { partitionKey, sortKey, index, stream } = definition
  const keys = [partitionKey, sortKey, ...(index === undefined ? [] : [index.partitionKey, index.sortKey])]
  return {
    TableName: tableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: keys.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
    KeySchema: keySchema(partitionKey.name, sortKey.name),
    ...(index === undefined ? {} : { GlobalSecondaryIndexes: [indexInput(index)] }),
    ...(stream === undefined ? {} : { StreamSpecification: { StreamEnabled: true, StreamViewType: stream } }),
  }
}

function indexInput({ name, partitionKey, sortKey, include }: NonNullable<TableDefinition['index']>) {
  return {
    IndexName: name,
    KeySchema: keySchema(partitionKey.name, sortKey.name),
    Projection: { ProjectionType: 'INCLUDE' as const, NonKeyAttributes: [...include] },
  }
}

function keySchema(partition: string, sort: string) {
  return [
    { AttributeName: partition, KeyType: 'HASH' as const },
    { AttributeName: sort, KeyType: 'RANGE' as const },
  ]
}

/** What an existing table lacks of its definition, in words; undefined if it will do. */
export function tableDifference(table: TableDescription, definition: TableDefinition): string | undefined {
  const { partitionKey, sortKey, index, stream } = definition
  if (!sameKeys(table.KeySchema, [partitionKey.name, sortKey.name]))
    return `the keys ${partitionKey.name} and ${sortKey.name}`
  if (index !== undefined) {
    const found = table.GlobalSecondaryIndexes?.find(({ IndexName }) => IndexName === index.name)
    if (!sameKeys(found?.KeySchema, [index.partitionKey.name, index.sortKey.name])) return `the index ${index.name}`
  }
  const view = table.StreamSpecification?.StreamEnabled === true ? table.StreamSpecification.StreamViewType : undefined
  // A stream with old images too shows the relay all it needs.
  if (stream !== undefined && view !== stream && view !== 'NEW_AND_OLD_IMAGES') return `a stream of ${stream}`
  return undefined
}

function sameKeys(schema: TableDescription['KeySchema'], names: readonly [string, string]): boolean {
  return names.every((name, n) => schema?.[n]?.AttributeName === name) && schema?.length === names.length
}
