import { TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { type AlarmSpec, LASTING } from './alarms.ts'
import { tableMetric } from './metrics.ts'

export type WatchedTable = {
  /** Prefix of the alarms' ids. */
  readonly id: string
  /** As descriptions call it. */
  readonly name: string
  readonly tableName: string
  readonly indexName?: string
  /** What does not happen meanwhile. */
  readonly effect: string
  /** What a hot key is here, and what to do about it. */
  readonly hotKey: string
}

/** Throttled reads and writes of a table, of its index, and of one hot key. No data: nothing was throttled. */
export function tableAlarms({ id, name, tableName, indexName, effect, hotKey }: WatchedTable): readonly AlarmSpec[] {
  const describe = `aws dynamodb describe-table --table-name ${tableName}`
  const throttled = { threshold: 1, datapoints: LASTING, missing: TreatMissingData.NOT_BREACHING }
  return [
    {
      ...throttled,
      id: `${id}WritesThrottled`,
      metric: tableMetric('WriteThrottleEvents', tableName),
      meaning: `DynamoDB throttles writes to the ${name}. ${effect} See whether its hot-key alarm is on; if not, a limit of table or account is reached.`,
      next: `${describe} --query "Table.[BillingModeSummary,OnDemandThroughput,WarmThroughput]"`,
    },
    {
      ...throttled,
      id: `${id}ReadsThrottled`,
      metric: tableMetric('ReadThrottleEvents', tableName),
      meaning: `DynamoDB throttles reads of the ${name}. ${effect}`,
      next: `${describe} --query "Table.[BillingModeSummary,OnDemandThroughput,WarmThroughput]"`,
    },
    ...(indexName === undefined
      ? []
      : [
          {
            ...throttled,
            id: `${id}IndexWritesThrottled`,
            metric: tableMetric('WriteThrottleEvents', tableName, indexName),
            meaning: `DynamoDB throttles writes to the index ${indexName} of the ${name}, and by that writes to the table itself. ${effect}`,
            next: `${describe} --query "Table.GlobalSecondaryIndexes"`,
          },
        ]),
    {
      ...throttled,
      id: `${id}HotKey`,
      metric: tableMetric('WriteKeyRangeThroughputThrottleEvents', tableName),
      meaning: `One key of the ${name} takes more writes than one partition can (1,000 units a second). ${hotKey}`,
      next: `aws dynamodb update-contributor-insights --table-name ${tableName} --contributor-insights-action ENABLE, then look at the most throttled keys`,
    },
  ]
}
