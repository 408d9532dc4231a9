import { Duration } from 'aws-cdk-lib'
import { Metric, type MetricOptions, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { IEventSourceMapping } from 'aws-cdk-lib/aws-lambda'
import { GAUGES, METRICS, METRICS_NAMESPACE, type MetricKey, metricDimensions } from '../src/telemetry.ts'

/** Whose metric it is: the service that counts, and its table. */
export type MetricOwner = { readonly service: string; readonly tableName: string }

/** One of our own metrics. Default: over 5 minutes, the highest of a gauge and the sum of a count. */
export function ownMetric(owner: MetricOwner, key: MetricKey, options: MetricOptions = {}): Metric {
  const { name } = METRICS[key]
  return new Metric({
    namespace: METRICS_NAMESPACE,
    metricName: name,
    dimensionsMap: { ...metricDimensions(owner.service, owner.tableName) },
    statistic: GAUGES.has(key) ? Stats.MAXIMUM : Stats.SUM,
    period: Duration.minutes(5),
    ...options,
  })
}

/** A metric of an event source mapping, which needs the mapping's `EventCount` metrics to be on. */
export function mappingMetric(mapping: IEventSourceMapping, metricName: string, options: MetricOptions = {}): Metric {
  return new Metric({
    namespace: 'AWS/Lambda',
    metricName,
    dimensionsMap: { EventSourceMappingUUID: mapping.eventSourceMappingId },
    statistic: Stats.SUM,
    period: Duration.minutes(5),
    ...options,
  })
}

/** A metric of DynamoDB on a table, or on one of its indexes. */
export function tableMetric(metricName: string, tableName: string, indexName?: string): Metric {
  return new Metric({
    namespace: 'AWS/DynamoDB',
    metricName,
    dimensionsMap: {
      TableName: tableName,
      ...(indexName === undefined ? {} : { GlobalSecondaryIndexName: indexName }),
    },
    statistic: Stats.SUM,
    period: Duration.minutes(5),
  })
}
