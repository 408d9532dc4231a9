import { Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { Match, Template } from 'aws-cdk-lib/assertions'
import { EventBus, type IEventBus } from 'aws-cdk-lib/aws-events'
import { RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { beforeAll, describe, expect, it } from 'vitest'
import { TransactionalOutbox } from '../../cdk/index.ts'
import { createApp, resourceOf, resourcesOf, someFunction, synthesise, textOf } from '../support/cdk.ts'

let template: Template
beforeAll(() => {
  template = synthesise((stack) => {
    const queue = new Queue(stack, 'Queue', { fifo: true })
    new TransactionalOutbox(stack, 'Outbox', { routes: [{ source: 'shop', to: { name: 'orders', queue } }] })
  })
})

describe('the outbox table', () => {
  it('has the shape that the code reads and writes', () => {
    expect(resourceOf(template, 'AWS::DynamoDB::GlobalTable', 'OutboxTable').Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      GlobalSecondaryIndexes: [
        {
          IndexName: 'pending',
          KeySchema: [
            { AttributeName: 'shard', KeyType: 'HASH' },
            { AttributeName: 'due', KeyType: 'RANGE' },
          ],
          Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['created', 'type'] },
        },
      ],
      StreamSpecification: { StreamViewType: 'NEW_IMAGE' },
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    })
  })

  it('is kept, protected against deletion, and recoverable to any point in time', () => {
    const table = resourceOf(template, 'AWS::DynamoDB::GlobalTable', 'OutboxTable')
    expect(table).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' })
    expect(table.Properties['Replicas']).toMatchObject([
      { DeletionProtectionEnabled: true, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
    ])
  })
})

describe('the functions', () => {
  it.each([
    ['OutboxRelay', 120],
    ['OutboxSweeper', 55],
  ])(
    '%s runs on Node 24 on arm64 within its time, with a log of its own, and reserves no concurrency',
    (name, Timeout) => {
      const { Properties } = resourceOf(template, 'AWS::Lambda::Function', name)
      expect(Properties).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        MemorySize: 512,
        Timeout,
      })
      expect(textOf((Properties['LoggingConfig'] as { LogGroup: unknown }).LogGroup)).toBe(`${name}Logs`)
      expect(Properties).not.toHaveProperty('ReservedConcurrentExecutions')
      expect(resourceOf(template, 'AWS::Logs::LogGroup', `${name}Logs`)).toMatchObject({
        DeletionPolicy: 'Retain',
        Properties: { RetentionInDays: 90 },
      })
    },
  )

  it('both get the same environment: the table and the routes', () => {
    for (const name of ['OutboxRelay', 'OutboxSweeper']) {
      const { Variables } = resourceOf(template, 'AWS::Lambda::Function', name).Properties['Environment'] as {
        Variables: Record<string, unknown>
      }
      expect(Object.fromEntries(Object.entries(Variables).map(([key, value]) => [key, textOf(value)]))).toEqual({
        OUTBOX_TABLE: 'OutboxTable',
        OUTBOX_ROUTES: '[{"source":"shop","to":[{"kind":"sqs","name":"orders","url":"Queue"}]}]',
      })
    }
  })

  it('the sweeper runs each minute, and a run that fails is not repeated', () => {
    template.hasResourceProperties('AWS::Scheduler::Schedule', {
      ScheduleExpression: 'rate(1 minute)',
      State: 'ENABLED',
      FlexibleTimeWindow: { Mode: 'OFF' },
      Target: { RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: 60 } },
    })
    template.hasResourceProperties('AWS::Lambda::EventInvokeConfig', {
      MaximumRetryAttempts: 0,
      MaximumEventAgeInSeconds: 60,
    })
  })
})

describe('the stream mapping', () => {
  it('starts at the horizon, takes partial answers, bisects, and is bounded in tries and age', () => {
    const { Properties } = resourceOf(template, 'AWS::Lambda::EventSourceMapping', 'RelayMapping')
    expect(Properties).toMatchObject({
      StartingPosition: 'TRIM_HORIZON',
      BatchSize: 1000,
      ParallelizationFactor: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      BisectBatchOnFunctionError: true,
      MaximumRetryAttempts: 10,
      MaximumRecordAgeInSeconds: 82_800,
      MetricsConfig: { Metrics: ['EventCount'] },
    })
    expect(textOf(Properties['EventSourceArn'])).toBe('OutboxTable.StreamArn')
  })

  it('takes new pending rows of this Region only', () => {
    expect(filterOf(template)).toEqual({
      eventName: ['INSERT'],
      dynamodb: { NewImage: { shard: { S: [{ prefix: 'p#' }] }, region: { S: ['AWS::Region'] } } },
    })
  })

  it('is created after the permissions that Lambda checks', () => {
    const { DependsOn = [] } = resourceOf(template, 'AWS::Lambda::EventSourceMapping', 'RelayMapping')
    expect(DependsOn.some((id) => id.startsWith('OutboxRelayRoleDefaultPolicy'))).toBe(true)
  })
})

function filterOf(of: Template): unknown {
  const criteria = resourceOf(of, 'AWS::Lambda::EventSourceMapping', 'RelayMapping').Properties['FilterCriteria']
  const { Filters } = criteria as { Filters: readonly { Pattern: unknown }[] }
  expect(Filters).toHaveLength(1)
  return JSON.parse(textOf(Filters[0]?.Pattern))
}

describe('what can be set', () => {
  it('one removal policy goes for table, queues, ledger and logs, and lifts the protection', () => {
    const thrownAway = synthesise((stack) => {
      const outbox = new TransactionalOutbox(stack, 'Outbox', { removalPolicy: RemovalPolicy.DESTROY })
      // An app without `exactOptionalPropertyTypes` may say undefined: that is not to overrule the outbox.
      const nothing = { removalPolicy: undefined } as object
      outbox.addConsumer('Orders', { handler: someFunction(stack), ...nothing })
    })
    const all = ['AWS::DynamoDB::GlobalTable', 'AWS::SQS::Queue', 'AWS::Logs::LogGroup'].flatMap((type) =>
      Object.entries(resourcesOf(thrownAway, type)).flatMap(([id, resource]) =>
        id.startsWith('Outbox') ? resource : [],
      ),
    )
    expect(all).toHaveLength(6)
    for (const resource of all) expect(resource.DeletionPolicy).toBe('Delete')
    for (const table of Object.values(resourcesOf(thrownAway, 'AWS::DynamoDB::GlobalTable')))
      expect(table.Properties['Replicas']).toMatchObject([{ DeletionProtectionEnabled: false }])
  })

  it('Regions to take over reach the filter and the functions', () => {
    const taking = synthesise(
      (stack) => {
        const queue = new Queue(stack, 'Queue', { fifo: true })
        const routes = [{ to: { name: 'orders', queue } }]
        new TransactionalOutbox(stack, 'Outbox', {
          routes,
          takeOverRegions: ['eu-west-1'],
          keepRelayed: Duration.days(14),
          logRetention: RetentionDays.ONE_WEEK,
        })
      },
      { env: { region: 'eu-central-1' } },
    )
    expect(filterOf(taking)).toMatchObject({
      dynamodb: { NewImage: { region: { S: ['eu-central-1', 'eu-west-1'] } } },
    })
    taking.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 7 })
    taking.hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: { OUTBOX_TAKE_OVER_REGIONS: '["eu-west-1"]', OUTBOX_KEEP_RELAYED_SECONDS: '1209600' },
      },
    })
  })

  it('routes to queues and buses, by source and type, several destinations a row', () => {
    const stack = new Stack(createApp(), 'Stack')
    const queue = new Queue(stack, 'Queue', { fifo: true })
    const eventBus = new EventBus(stack, 'Bus') as IEventBus
    const outbox = new TransactionalOutbox(stack, 'Outbox')
    outbox.addRoute({
      source: ['a', 'b'],
      type: 't',
      to: [
        { name: 'q', queue },
        { name: 'bus', eventBus },
      ],
    })
    outbox.addConsumer('Orders', { handler: someFunction(stack), source: 'shop', type: ['order.placed'] })
    const relay = resourceOf(Template.fromStack(stack), 'AWS::Lambda::Function', 'OutboxRelay').Properties[
      'Environment'
    ]
    expect(JSON.parse(textOf((relay as { Variables: Record<string, unknown> }).Variables['OUTBOX_ROUTES']))).toEqual([
      {
        source: ['a', 'b'],
        type: 't',
        to: [
          { kind: 'sqs', name: 'q', url: 'Queue' },
          { kind: 'event-bus', name: 'bus', bus: 'Bus.Arn' },
        ],
      },
      { source: 'shop', type: ['order.placed'], to: [{ kind: 'sqs', name: 'Orders', url: 'OutboxOrdersQueue' }] },
    ])
  })

  it('without alarms and dashboard there are none', () => {
    const bare = synthesise((stack) => {
      const outbox = new TransactionalOutbox(stack, 'Outbox', { alarms: false, dashboard: false })
      outbox.addConsumer('Orders', { handler: someFunction(stack) })
    })
    bare.resourceCountIs('AWS::CloudWatch::Alarm', 0)
    bare.resourceCountIs('AWS::CloudWatch::Dashboard', 0)
    bare.resourceCountIs('AWS::Lambda::Function', 3)
    bare.hasResource('AWS::DynamoDB::GlobalTable', Match.anyValue())
  })
})
