import { Duration } from 'aws-cdk-lib'
import { Stats, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch'
import type { IEventSourceMapping, IFunction } from 'aws-cdk-lib/aws-lambda'
import type { ITopic } from 'aws-cdk-lib/aws-sns'
import { OUTBOX_TABLE } from '../src/tables.ts'
import { type AlarmSpec, errorsAlarm, tailLogs, throttlesAlarm, type WatchedFunction } from './alarms.ts'
import { mappingAlarm } from './mapping-alarm.ts'
import type { OutboxBase } from './outbox-base.ts'
import { tableAlarms } from './table-alarms.ts'

export type OutboxAlarmOptions = {
  /** Told when an alarm goes off. A key on it must allow `cloudwatch.amazonaws.com`. @default - nobody is told */
  readonly topic?: ITopic
  /** Age of the oldest pending row that is too old. @default - 10 minutes; up to 3 are usual when the sweeper delivers */
  readonly oldestPending?: Duration
}

export type WatchedOutbox = {
  readonly outbox: OutboxBase
  readonly relay: IFunction
  readonly sweeper: IFunction
  readonly mapping: IEventSourceMapping
  readonly scheduleName: string
}

/** 1 % of the 24 hours that a stream keeps its records: 14.4 minutes. Milliseconds. */
const ITERATOR_AGE_MS = 864_000

/** Every alarm of an outbox: rows, relay, sweeper, table. */
export function outboxAlarms(watched: WatchedOutbox, options: OutboxAlarmOptions): readonly AlarmSpec[] {
  const { relay, mapping } = watched
  const swept = 'The sweeper still delivers, up to 3 minutes late.'
  const watchedRelay: WatchedFunction = { handler: relay, id: 'Relay', name: 'relay', effect: swept }
  return [
    ...rowAlarms(watched, options.oldestPending ?? Duration.minutes(10)),
    {
      id: 'IteratorAge',
      metric: relay.metric('IteratorAge', { statistic: Stats.MAXIMUM, period: Duration.minutes(5) }),
      threshold: ITERATOR_AGE_MS,
      // Nothing is invoked, nothing is behind; a relay that stands still shows in the age of rows.
      missing: TreatMissingData.NOT_BREACHING,
      meaning: `The relay is more than 14 minutes behind its stream, 1 % of what the stream keeps. ${swept}`,
      next: tailLogs(relay),
    },
    errorsAlarm(watchedRelay),
    throttlesAlarm(watchedRelay),
    mappingAlarm(mapping, { id: 'Relay', name: 'relay', effect: swept }),
    ...sweeperAlarms(watched),
    ...tableAlarms({
      id: 'Table',
      name: 'outbox table',
      tableName: watched.outbox.table.tableName,
      ...(OUTBOX_TABLE.index === undefined ? {} : { indexName: OUTBOX_TABLE.index.name }),
      effect: 'Transactions that enqueue are retried, then fail; nothing committed is lost.',
      hotKey: 'One group of events is too busy: choose smaller groups (an order instead of a shop).',
    }),
  ]
}

function rowAlarms({ outbox, relay }: WatchedOutbox, oldest: Duration): readonly AlarmSpec[] {
  return [
    {
      id: 'OldestPending',
      metric: outbox.metricOldestPending({ period: Duration.minutes(1) }),
      threshold: oldest.toMilliseconds(),
      datapoints: [3, 3],
      // Without a sweeper there is no age; then SweeperNotRun goes off, and this one stays as it was.
      missing: TreatMissingData.IGNORE,
      meaning: `An event is not delivered since ${oldest.toMinutes()} minutes. It is not lost. A destination is down, a permission or route is missing (UnroutedRows), or the relay stands still.`,
      next: `dynamodb-outbox doctor; ${tailLogs(relay)}`,
    },
    {
      id: 'DeadRows',
      metric: outbox.metricDead(),
      threshold: 1,
      // Counted each 15 minutes: between counts it stays as it was.
      missing: TreatMissingData.IGNORE,
      meaning:
        'Events were refused by a destination for their content and lie dead in the outbox table, with the reason. Mend the cause, then redrive them.',
      next: 'dynamodb-outbox dead-letters --handler relay',
    },
  ]
}

function sweeperAlarms({ outbox, sweeper, scheduleName }: WatchedOutbox): readonly AlarmSpec[] {
  return [
    {
      id: 'SweeperNotRun',
      // Given by each run that could read the whole index.
      metric: outbox.metricPending({ statistic: Stats.SAMPLE_COUNT, period: Duration.minutes(5) }),
      threshold: 1,
      below: true,
      datapoints: [2, 2],
      missing: TreatMissingData.BREACHING,
      meaning:
        'The sweeper has not seen the table for 10 minutes: what the stream path misses is not delivered, and no age of rows is known.',
      next: `dynamodb-outbox doctor; aws scheduler get-schedule --name ${scheduleName} --query State; ${tailLogs(sweeper)}`,
    },
    errorsAlarm({
      handler: sweeper,
      id: 'Sweeper',
      name: 'sweeper',
      effect: 'What the stream path misses may not be delivered.',
    }),
  ]
}
