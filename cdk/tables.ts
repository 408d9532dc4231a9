import { RemovalPolicy } from 'aws-cdk-lib'
import {
  AttributeType,
  Billing,
  type ITable,
  ProjectionType,
  StreamViewType,
  TableEncryptionV2,
  type TablePropsV2,
  TableV2,
} from 'aws-cdk-lib/aws-dynamodb'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { Construct } from 'constructs'
import type { TableDefinition } from '../src/tables.ts'
import { given } from './given.ts'

export type TableSettings = {
  readonly removalPolicy: RemovalPolicy
  readonly encryptionKey: IKey | undefined
  readonly tableName: string | undefined
}

/**
 * A table in the shape of its definition: on demand, encrypted (by DynamoDB's own key, or the given one), with
 * point-in-time recovery over 35 days, and protected against deletion unless it is to go with its stack.
 */
export function createTable(
  scope: Construct,
  ...[id, definition, settings]: readonly [id: string, definition: TableDefinition, settings: TableSettings]
): ITable {
  const { removalPolicy, encryptionKey, tableName } = settings
  const table = new TableV2(scope, id, {
    ...shapeOf(definition),
    billing: Billing.onDemand(),
    pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
    encryption:
      encryptionKey === undefined
        ? TableEncryptionV2.dynamoOwnedKey()
        : TableEncryptionV2.customerManagedKey(encryptionKey),
    deletionProtection: removalPolicy !== RemovalPolicy.DESTROY,
    removalPolicy,
    ...given({ tableName }),
  })
  // Only the two declarations of an optional stream differ.
  return table as ITable
}

const TYPES = { S: AttributeType.STRING, N: AttributeType.NUMBER } as const

function attribute({ name, type }: { readonly name: string; readonly type: 'S' | 'N' }) {
  return { name, type: TYPES[type] }
}

function shapeOf({ partitionKey, sortKey, timeToLiveAttribute, stream, index }: TableDefinition): TablePropsV2 {
  return {
    partitionKey: attribute(partitionKey),
    sortKey: attribute(sortKey),
    timeToLiveAttribute,
    ...(stream === undefined ? {} : { dynamoStream: StreamViewType[stream] }),
    ...(index === undefined
      ? {}
      : {
          globalSecondaryIndexes: [
            {
              indexName: index.name,
              partitionKey: attribute(index.partitionKey),
              sortKey: attribute(index.sortKey),
              projectionType: ProjectionType.INCLUDE,
              nonKeyAttributes: [...index.include],
            },
          ],
        }),
  }
}
