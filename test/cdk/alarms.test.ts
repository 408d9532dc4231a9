import { Duration } from 'aws-cdk-lib'
import { Match, type Template } from 'aws-cdk-lib/assertions'
import { Topic } from 'aws-cdk-lib/aws-sns'
import { beforeAll, describe, expect, it } from 'vitest'
import { type OutboxConsumerProps, TransactionalOutbox } from '../../cdk/index.ts'
import { METRICS, METRICS_NAMESPACE } from '../../src/telemetry.ts'
import { proves } from '../cases.ts'
import { type Resource, resourcesOf, someFunction, synthesise, textOf } from '../support/cdk.ts'

let template: Template
let alarms: Readonly<Record<string, Resource>>
beforeAll(() => {
  template = synthesise((stack) => {
    const topic = new Topic(stack, 'Pager')
    const outbox = new TransactionalOutbox(stack, 'Outbox', { alarms: { topic } })
    outbox.addConsumer('Orders', { handler: someFunction(stack), consumerName: 'shop' })
  })
  alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm')
})

/** `metric{dimensions} statistic comparison threshold, datapoints of periods of seconds, missing data`. */
function conditionOf({ Properties: p }: Resource): string {
  const dimensions = (p['Dimensions'] as { Name: string; Value: unknown }[])
    .map(({ Name, Value }) => `${Name}=${textOf(Value)}`)
    .join(' ')
  const comparison = p['ComparisonOperator'] === 'LessThanThreshold' ? '<' : '>='
  return (
    `${p['Namespace']} ${p['MetricName']}{${dimensions}} ${p['Statistic']} ${comparison} ${p['Threshold']}, ` +
    `${p['DatapointsToAlarm']}/${p['EvaluationPeriods']} of ${p['Period']} s, missing ${p['TreatMissingData']}`
  )
}

const LASTING = '2/3 of 300 s, missing notBreaching'
const throttles = (table: string, metric: string) => `AWS/DynamoDB ${metric}{TableName=${table}} Sum >= 1, ${LASTING}`

describe('alarms', () => {
  it('are these, each on one metric', proves('oldest-pending-age'), () => {
    expect(Object.fromEntries(Object.entries(alarms).map(([id, alarm]) => [id, conditionOf(alarm)]))).toEqual({
      OutboxAlarmsOldestPending:
        'DynamoDBOutbox OldestPendingMs{Table=OutboxTable service=outbox} Maximum >= 600000, 3/3 of 60 s, missing ignore',
      OutboxAlarmsDeadRows:
        'DynamoDBOutbox DeadRows{Table=OutboxTable service=outbox} Maximum >= 1, 1/1 of 300 s, missing ignore',
      OutboxAlarmsIteratorAge:
        'AWS/Lambda IteratorAge{FunctionName=OutboxRelay} Maximum >= 864000, 1/1 of 300 s, missing notBreaching',
      OutboxAlarmsRelayErrors: `AWS/Lambda Errors{FunctionName=OutboxRelay} Sum >= 1, ${LASTING}`,
      OutboxAlarmsRelayThrottles: `AWS/Lambda Throttles{FunctionName=OutboxRelay} Sum >= 1, ${LASTING}`,
      OutboxAlarmsRelayMappingStopped:
        'AWS/Lambda PolledEventCount{EventSourceMappingUUID=OutboxRelayMapping} SampleCount < 1, 3/3 of 300 s, missing breaching',
      OutboxAlarmsSweeperNotRun:
        'DynamoDBOutbox PendingRows{Table=OutboxTable service=outbox} SampleCount < 1, 2/2 of 300 s, missing breaching',
      OutboxAlarmsSweeperErrors: `AWS/Lambda Errors{FunctionName=OutboxSweeper} Sum >= 1, ${LASTING}`,
      OutboxAlarmsTableWritesThrottled: throttles('OutboxTable', 'WriteThrottleEvents'),
      OutboxAlarmsTableReadsThrottled: throttles('OutboxTable', 'ReadThrottleEvents'),
      OutboxAlarmsTableIndexWritesThrottled: `AWS/DynamoDB WriteThrottleEvents{GlobalSecondaryIndexName=pending TableName=OutboxTable} Sum >= 1, ${LASTING}`,
      OutboxAlarmsTableHotKey: throttles('OutboxTable', 'WriteKeyRangeThroughputThrottleEvents'),
      OutboxOrdersAlarmsDeadLetters:
        'AWS/SQS ApproximateNumberOfMessagesVisible{QueueName=OutboxOrdersDeadLetterQueue.QueueName} Maximum >= 1, 1/1 of 60 s, missing ignore',
      OutboxOrdersAlarmsOldestMessage:
        'AWS/SQS ApproximateAgeOfOldestMessage{QueueName=OutboxOrdersQueue.QueueName} Maximum >= 1200, 1/1 of 300 s, missing notBreaching',
      OutboxOrdersAlarmsHandlerErrors: `AWS/Lambda Errors{FunctionName=Handler} Sum >= 1, ${LASTING}`,
      OutboxOrdersAlarmsHandlerThrottles: `AWS/Lambda Throttles{FunctionName=Handler} Sum >= 1, ${LASTING}`,
      OutboxOrdersAlarmsHandlerMappingStopped:
        'AWS/Lambda PolledEventCount{EventSourceMappingUUID=OutboxOrdersMapping} SampleCount < 1, 3/3 of 300 s, missing breaching',
      OutboxOrdersAlarmsLedgerWritesThrottled: throttles('OutboxOrdersLedger', 'WriteThrottleEvents'),
      OutboxOrdersAlarmsLedgerReadsThrottled: throttles('OutboxOrdersLedger', 'ReadThrottleEvents'),
      OutboxOrdersAlarmsLedgerHotKey: throttles('OutboxOrdersLedger', 'WriteKeyRangeThroughputThrottleEvents'),
    })
  })

  it('each say what they mean and which command to run next, within CloudWatch’s 1,024 characters', () => {
    for (const { Properties } of Object.values(alarms)) {
      const text = textOf(Properties['AlarmDescription'])
      expect(text).toMatch(/^[A-Z].+\. Next: (dynamodb-outbox [a-z-]+|aws [a-z]+ [a-z-]+)/)
      // Names that are known only at deployment may be 100 characters longer than these.
      expect(text.length).toBeLessThan(800)
    }
  })

  it('tell the topic, a consumer’s those of its outbox', () => {
    for (const { Properties } of Object.values(alarms)) expect(textOf(Properties['AlarmActions'])).toBe('Pager')
  })

  it('of a consumer with a limit of its own still tell the outbox’s topic, and those of another topic tell that', () => {
    const other = synthesise((stack) => {
      const outbox = new TransactionalOutbox(stack, 'Outbox', { alarms: { topic: new Topic(stack, 'Pager') } })
      const consumer = (id: string, alarms: OutboxConsumerProps['alarms'] & {}) =>
        outbox.addConsumer(id, { handler: someFunction(stack, `${id}Handler`), alarms })
      consumer('Slow', { oldestMessage: Duration.hours(1) })
      consumer('Team', { topic: new Topic(stack, 'TeamPager') })
      consumer('Silent', false)
    })
    const told = Object.entries(resourcesOf(other, 'AWS::CloudWatch::Alarm')).map(
      ([id, { Properties }]) => `${id.replace(/Alarms.*/, '')} ${textOf(Properties['AlarmActions'])}`,
    )
    expect([...new Set(told)].sort()).toEqual(['Outbox Pager', 'OutboxSlow Pager', 'OutboxTeam TeamPager'])
  })

  it('tell nobody by default, and take other limits', () => {
    const other = synthesise((stack) => {
      const outbox = new TransactionalOutbox(stack, 'Outbox', { alarms: { oldestPending: Duration.minutes(30) } })
      outbox.addConsumer('Orders', {
        handler: someFunction(stack),
        alarms: { oldestMessage: Duration.hours(1) },
      })
    })
    other.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'OldestPendingMs',
      Threshold: 1_800_000,
      AlarmActions: Match.absent(),
    })
    other.hasResourceProperties('AWS::CloudWatch::Alarm', {
      MetricName: 'ApproximateAgeOfOldestMessage',
      Threshold: 3600,
    })
  })
})

type Widget = {
  readonly x: number
  readonly y: number
  readonly properties: { readonly title: string; readonly metrics: readonly (readonly unknown[])[] }
}

describe('the dashboard', () => {
  const widgets = (): readonly Widget[] => {
    const [dashboard] = Object.values(resourcesOf(template, 'AWS::CloudWatch::Dashboard'))
    return JSON.parse(textOf(dashboard?.Properties['DashboardBody'])).widgets
  }

  it('shows the flow from left to right, consumers below each other', () => {
    const columns = [0, 6, 12, 18].map((x) => widgets().filter((widget) => widget.x === x))
    expect(columns.map((column) => column.map(({ properties }) => properties.title))).toEqual([
      ['1 Rows: pending', '1 Rows: dead'],
      ['2 Relay: events', '2 Relay: function'],
      ['3 Destinations: entries', '3 Orders: queue', 'Orders: dead letters'],
      ['Sweeper', '4 Orders: function', 'Orders: outcomes'],
    ])
    for (const column of columns) expect(new Set(column.map(({ y }) => y)).size).toBe(column.length)
  })

  it('knows our own metrics by the names and dimensions under which the functions give them', () => {
    const names = new Set(Object.values(METRICS).map(({ name }) => name as string))
    const own = widgets()
      .flatMap(({ properties }) => properties.metrics)
      .filter(([namespace]) => namespace === METRICS_NAMESPACE)
    expect(own.length).toBeGreaterThan(12)
    for (const [, name, ...dimensions] of own) {
      expect(names).toContain(name)
      const text = dimensions.filter((part) => typeof part === 'string').join(' ')
      expect(text).toMatch(/^Table OutboxTable service outbox$|^Table OutboxOrdersLedger service shop$/)
    }
  })
})
