import { Duration } from 'aws-cdk-lib'
import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { Construct } from 'constructs'

/** One alarm as data. It is on while the metric is at or over `threshold` (`below`: under it). */
export type AlarmSpec = {
  readonly id: string
  readonly metric: IMetric
  readonly threshold: number
  readonly below?: boolean
  /** How many of how many periods. Default: the one. */
  readonly datapoints?: readonly [breaching: number, of: number]
  readonly missing: TreatMissingData
  /** What it means. */
  readonly meaning: string
  /** The command to run next. */
  readonly next: string
}

/** Creates the alarms of a table; each tells in its description what it means and which command to run next. */
export function createAlarms(scope: Construct, specs: readonly AlarmSpec[], topic: ITopic | undefined): void {
  for (const { id, metric, threshold, below, datapoints = [1, 1], missing, meaning, next } of specs) {
    const alarm = new Alarm(scope, id, {
      metric,
      threshold,
      comparisonOperator: below
        ? ComparisonOperator.LESS_THAN_THRESHOLD
        : ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      datapointsToAlarm: datapoints[0],
      evaluationPeriods: datapoints[1],
      treatMissingData: missing,
      alarmDescription: `${meaning} Next: ${next}`,
    })
    if (topic !== undefined) alarm.addAlarmAction(new SnsAction(topic))
  }
}

/** Lasting, not a hiccup that a retry has already mended: in two of three periods of 5 minutes. */
export const LASTING = [2, 3] as const
const FIVE_MINUTES = { period: Duration.minutes(5), statistic: 'Sum' }

export type WatchedFunction = {
  readonly handler: IFunction
  /** Prefix of the alarms' ids. */
  readonly id: string
  /** As descriptions call it. */
  readonly name: string
  /** What happens meanwhile, and what does not. */
  readonly effect: string
}

/** No data: it was not invoked. */
export function errorsAlarm({ handler, id, name, effect }: WatchedFunction): AlarmSpec {
  return {
    id: `${id}Errors`,
    metric: handler.metricErrors(FIVE_MINUTES),
    threshold: 1,
    datapoints: LASTING,
    missing: TreatMissingData.NOT_BREACHING,
    meaning: `The ${name} fails, crashes or runs out of time. ${effect}`,
    next: tailLogs(handler),
  }
}

/** Throttled invocations count neither as invocations nor as errors. */
export function throttlesAlarm({ handler, id, name, effect }: WatchedFunction): AlarmSpec {
  return {
    id: `${id}Throttles`,
    metric: handler.metricThrottles(FIVE_MINUTES),
    threshold: 1,
    datapoints: LASTING,
    missing: TreatMissingData.NOT_BREACHING,
    meaning: `Lambda does not start the ${name}: the concurrency of the account, or what is reserved for it, is used up. ${effect}`,
    next: 'aws lambda get-account-settings --query AccountLimit',
  }
}

/** A command that shows the log of a function, wherever it is. */
export function tailLogs(handler: IFunction): string {
  const name = handler.functionName
  return `aws logs tail "$(aws lambda get-function-configuration --function-name ${name} --query LoggingConfig.LogGroup --output text)" --since 30m`
}
