import { Column, Dashboard, GraphWidget, type IMetric, Row, Stats } from 'aws-cdk-lib/aws-cloudwatch'
import type { IEventSourceMapping, IFunction } from 'aws-cdk-lib/aws-lambda'
import { Construct } from 'constructs'
import type { MetricKey } from '../src/telemetry.ts'
import { mappingMetric } from './metrics.ts'
import type { OutboxBase } from './outbox-base.ts'
import type { OutboxConsumer } from './outbox-consumer.ts'

export type OutboxDashboardProps = {
  readonly outbox: OutboxBase
  readonly relay: IFunction
  readonly sweeper: IFunction
  readonly mapping: IEventSourceMapping
}

/** A quarter of the dashboard. */
const WIDTH = 6

/** The flow from left to right: rows, relay, queues, consumers. What goes well is on top, what does not below it. */
export class OutboxDashboard extends Construct {
  readonly dashboard: Dashboard
  private readonly queues: Column
  private readonly consumers: Column

  constructor(scope: Construct, id: string, props: OutboxDashboardProps) {
    super(scope, id)
    this.queues = new Column(destinationsWidget(props))
    this.consumers = new Column(sweeperWidget(props))
    const rows = new Column(...rowWidgets(props))
    this.dashboard = new Dashboard(this, 'Resource')
    this.dashboard.addWidgets(new Row(rows, new Column(...relayWidgets(props)), this.queues, this.consumers))
  }

  /** Puts a consumer's queue and function at the right end. `addConsumer` of the outbox has done that for its own. */
  addConsumer(consumer: OutboxConsumer): void {
    const name = consumer.node.id
    this.queues.addWidget(queueWidget(consumer, name))
    this.queues.addWidget(graph(`${name}: dead letters`, [consumer.metricDeadLetters({ label: 'messages' })]))
    this.consumers.addWidget(functionWidget(`${name}: function`, consumer.handler))
    const outcomes = CONSUMER_METRICS.flatMap((key) => consumer.metric(key) ?? [])
    if (outcomes.length > 0) this.consumers.addWidget(graph(`${name}: outcomes`, outcomes))
  }
}

const CONSUMER_METRICS: readonly MetricKey[] = [
  'handled',
  'duplicatesSuppressed',
  'deferred',
  'failed',
  'crashed',
  'deadLettered',
]

function rowWidgets({ outbox }: OutboxDashboardProps) {
  return [
    new GraphWidget({
      title: '1 Rows: pending',
      width: WIDTH,
      left: [outbox.metricPending({ label: 'pending rows' })],
      right: [outbox.metricOldestPending({ label: 'age of the oldest, ms' })],
    }),
    graph('1 Rows: dead', [outbox.metricDead({ label: 'dead rows' })]),
  ]
}

function relayWidgets({ outbox, relay, mapping }: OutboxDashboardProps) {
  return [
    graph('2 Relay: events', [
      mappingMetric(mapping, 'InvokedEventCount', { label: 'records taken' }),
      outbox.metricRelayed({ label: 'rows relayed' }),
      outbox.metric('leftToSweeper', { label: 'left to the sweeper' }),
      mappingMetric(mapping, 'DroppedEventCount', { label: 'records given up by the mapping' }),
    ]),
    new GraphWidget({
      title: '2 Relay: function',
      width: WIDTH,
      left: [relay.metricErrors({ label: 'errors' }), relay.metricThrottles({ label: 'throttles' })],
      right: [relay.metric('IteratorAge', { statistic: Stats.MAXIMUM, label: 'iterator age, ms' })],
    }),
  ]
}

function destinationsWidget({ outbox }: OutboxDashboardProps) {
  return graph('3 Destinations: entries', [
    outbox.metric('sent', { label: 'accepted' }),
    outbox.metric('sendFailed', { label: 'outage, throttle or permission' }),
    outbox.metric('refused', { label: 'refused for their content' }),
    outbox.metric('unroutedRows', { label: 'no route' }),
  ])
}

function sweeperWidget({ outbox, sweeper }: OutboxDashboardProps) {
  return graph('Sweeper', [
    sweeper.metricInvocations({ label: 'runs' }),
    sweeper.metricErrors({ label: 'errors' }),
    outbox.metric('swept', { label: 'rows swept' }),
  ])
}

function queueWidget(consumer: OutboxConsumer, name: string) {
  return new GraphWidget({
    title: `3 ${name}: queue`,
    width: WIDTH,
    left: [
      consumer.queue.metricApproximateNumberOfMessagesVisible({ label: 'waiting' }),
      consumer.queue.metricApproximateNumberOfMessagesNotVisible({ label: 'in flight or put off' }),
    ],
    right: [consumer.metricOldestMessage({ label: 'age of the oldest, s' })],
  })
}

function functionWidget(title: string, handler: IFunction) {
  return graph(`4 ${title}`, [
    handler.metricInvocations({ label: 'invocations' }),
    handler.metricErrors({ label: 'errors' }),
    handler.metricThrottles({ label: 'throttles' }),
  ])
}

function graph(title: string, left: IMetric[]) {
  return new GraphWidget({ title, width: WIDTH, left })
}
