import { Duration } from 'aws-cdk-lib'
import { TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { IEventSourceMapping, IFunction } from 'aws-cdk-lib/aws-lambda'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { type AlarmSpec, errorsAlarm, tailLogs, throttlesAlarm, type WatchedFunction } from './alarms.ts'
import { mappingAlarm } from './mapping-alarm.ts'
import { tableAlarms } from './table-alarms.ts'

export type ConsumerAlarmOptions = {
  /** Told when an alarm goes off. A key on it must allow `cloudwatch.amazonaws.com`. @default - nobody is told */
  readonly topic?: ITopic
  /** Age of the oldest message that is too old. @default - 20 minutes; the default retries of one event take 11 */
  readonly oldestMessage?: Duration
}

export type WatchedConsumer = {
  readonly handler: IFunction
  readonly queue: IQueue
  readonly deadLetterQueue: IQueue
  readonly ledgerTable: ITable
  readonly mapping: IEventSourceMapping
}

/** Every alarm of a consumer: dead letters, queue, function, ledger. */
export function consumerAlarms(watched: WatchedConsumer, options: ConsumerAlarmOptions): readonly AlarmSpec[] {
  const { handler, queue, deadLetterQueue, ledgerTable, mapping } = watched
  const oldest = options.oldestMessage ?? Duration.minutes(20)
  const waiting = 'Messages wait in the queue; nothing is spent.'
  const watchedHandler: WatchedFunction = { handler, id: 'Handler', name: 'consumer', effect: waiting }
  return [
    {
      id: 'DeadLetters',
      metric: deadLetterQueue.metricApproximateNumberOfMessagesVisible({
        statistic: 'Maximum',
        period: Duration.minutes(1),
      }),
      threshold: 1,
      // SQS stops its metrics after six quiet hours, while the messages are still there.
      missing: TreatMissingData.IGNORE,
      meaning: 'A handler has given up on events. Mend the cause, then redrive them within 14 days.',
      next: 'dynamodb-outbox dead-letters',
    },
    {
      id: 'OldestMessage',
      metric: queue.metricApproximateAgeOfOldestMessage({ statistic: 'Maximum', period: Duration.minutes(5) }),
      threshold: oldest.toSeconds(),
      missing: TreatMissingData.NOT_BREACHING,
      meaning: `An event waits in the queue for ${oldest.toMinutes()} minutes, longer than retries take: the consumer is down or too slow, or the ledger does not answer.`,
      next: `dynamodb-outbox status; ${tailLogs(handler)}`,
    },
    errorsAlarm(watchedHandler),
    throttlesAlarm(watchedHandler),
    mappingAlarm(mapping, { id: 'Handler', name: 'consumer', effect: waiting }),
    ...tableAlarms({
      id: 'Ledger',
      name: 'ledger table',
      tableName: ledgerTable.tableName,
      effect: waiting,
      hotKey: 'An event is delivered over and over: look at the redrives of dead letters.',
    }),
  ]
}
