import { Duration } from 'aws-cdk-lib'
import { Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import type { IEventSourceMapping } from 'aws-cdk-lib/aws-lambda'
import type { AlarmSpec } from './alarms.ts'
import { mappingMetric } from './metrics.ts'

/**
 * A mapping that polls gives a datapoint even when it finds nothing. None in 15 minutes: it is disabled, or may not read
 * its source. The function's own metrics show nothing of that.
 */
export function mappingAlarm(
  mapping: IEventSourceMapping,
  { id, name, effect }: { readonly id: string; readonly name: string; readonly effect: string },
): AlarmSpec {
  return {
    id: `${id}MappingStopped`,
    metric: mappingMetric(mapping, 'PolledEventCount', { statistic: Stats.SAMPLE_COUNT, period: Duration.minutes(5) }),
    threshold: 1,
    below: true,
    datapoints: [3, 3],
    missing: TreatMissingData.BREACHING,
    meaning: `The ${name} is not fed any more: its mapping is disabled, or a permission or key is missing. ${effect}`,
    next: `dynamodb-outbox doctor; aws lambda get-event-source-mapping --uuid ${mapping.eventSourceMappingId} --query "[State,StateTransitionReason,LastProcessingResult]"`,
  }
}
