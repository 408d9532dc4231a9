import { Duration, Stack, Validations } from 'aws-cdk-lib'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import {
  EventSourceMapping,
  FilterCriteria,
  FilterRule,
  type IFunction,
  MetricType,
  StartingPosition,
} from 'aws-cdk-lib/aws-lambda'
import type { Construct } from 'constructs'
import { grantStream } from './grants.ts'

export type StreamMappingProps = {
  readonly table: ITable
  readonly streamArn: string
  readonly target: IFunction
  readonly takeOverRegions: readonly string[]
}

/**
 * Feeds the relay from the outbox table's stream. The table is the truth and the sweeper its backstop, so every bound
 * here may discard a hint without losing an event.
 */
export function createStreamMapping(scope: Construct, id: string, props: StreamMappingProps): EventSourceMapping {
  const { table, streamArn, target, takeOverRegions } = props
  const mapping = new EventSourceMapping(scope, id, {
    target,
    eventSourceArn: streamArn,
    // LATEST loses what is written while the mapping is created or updated.
    startingPosition: StartingPosition.TRIM_HORIZON,
    // As much as one read of the stream brings: fuller requests to SQS while a backlog drains. A batch does not wait to
    // be full, and Lambda caps it at 6 MB.
    batchSize: 1000,
    // Order comes from the table, so a shard may be read by ten at once.
    parallelizationFactor: 10,
    reportBatchItemFailures: true,
    bisectBatchOnError: true,
    // The relay fails only when it can do nothing at all. Ten tries outlast a hiccup; after that the sweeper has the rows,
    // and newer records are not held up.
    retryAttempts: 10,
    // Under the stream's 24 hours, so that what is discarded is counted (DroppedEventCount) and not trimmed unseen.
    maxRecordAge: Duration.hours(23),
    filters: [pendingInserts([Stack.of(scope).region, ...takeOverRegions])],
    metricsConfig: { metrics: [MetricType.EVENT_COUNT] },
  })
  // Lambda checks the role's permissions when the mapping is created.
  grantStream(table, target, streamArn).applyBefore(mapping)
  acknowledgeStreams(scope, table)
  return mapping
}

/** For those who check their app with cdk-nag: AWS documents `ListStreams` for all streams of a table only. */
function acknowledgeStreams(scope: Construct, table: ITable): void {
  Validations.of(scope).acknowledge({
    id: `AwsSolutions-IAM5[Resource::${flat(Stack.of(scope).resolve(table.tableArn))}/stream/*]`,
    reason: 'Lambda asks for dynamodb:ListStreams, which AWS documents for all streams of one table and no narrower.',
  })
}

/** A resolved ARN as cdk-nag writes it: `<Table.Arn>`, `arn:<AWS::Partition>:…`. */
function flat(value: unknown): string {
  if (typeof value === 'string') return value
  const intrinsic = (value ?? {}) as {
    readonly Ref?: string
    readonly 'Fn::GetAtt'?: readonly string[]
    readonly 'Fn::Join'?: readonly [string, readonly unknown[]]
  }
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = intrinsic
  return join === undefined ? `<${Ref ?? attribute?.join('.')}>` : join[1].map(flat).join(join[0])
}

/** New pending rows of these Regions. All else, the marks of relayed rows above all, costs no invocation. */
function pendingInserts(regions: readonly string[]) {
  return FilterCriteria.filter({
    eventName: FilterRule.isEqual('INSERT'),
    dynamodb: { NewImage: { shard: { S: FilterRule.beginsWith('p#') }, region: { S: [...regions] } } },
  })
}
