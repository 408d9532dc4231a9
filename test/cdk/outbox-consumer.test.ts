import { Duration, Stack } from 'aws-cdk-lib'
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions'
import { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { type IFunction, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { beforeAll, describe, expect, it } from 'vitest'
import { OutboxConsumer, TransactionalOutbox } from '../../cdk/index.ts'
import { createApp, resourceOf, resourcesOf, someFunction, synthesise, textOf } from '../support/cdk.ts'

let template: Template
beforeAll(() => {
  template = synthesise((stack) => {
    new OutboxConsumer(stack, 'Stock', { handler: someFunction(stack, 'Handler', { timeout: Duration.minutes(5) }) })
  })
})

const queueOf = (name: string, of = template) => resourceOf(of, 'AWS::SQS::Queue', name)

function environmentOf(of: Template, name: string): Record<string, string> {
  const { Variables = {} } = (resourceOf(of, 'AWS::Lambda::Function', name).Properties['Environment'] ?? {}) as {
    Variables?: Record<string, unknown>
  }
  return Object.fromEntries(Object.entries(Variables).map(([key, value]) => [key, textOf(value)]))
}

describe('the queue of a consumer', () => {
  it('is FIFO for high throughput, encrypted, keeps messages 14 days, and is itself kept', () => {
    for (const name of ['StockQueue', 'StockDeadLetterQueue']) {
      expect(queueOf(name)).toMatchObject({
        DeletionPolicy: 'Retain',
        UpdateReplacePolicy: 'Retain',
        Properties: {
          FifoQueue: true,
          DeduplicationScope: 'messageGroup',
          FifoThroughputLimit: 'perMessageGroupId',
          MessageRetentionPeriod: 1_209_600,
          SqsManagedSseEnabled: true,
        },
      })
    }
  })

  it('leaves giving up to the consumer: a thousand receives, each hidden six times the timeout', () => {
    const { Properties } = queueOf('StockQueue')
    expect(Properties).toMatchObject({ VisibilityTimeout: 1800, RedrivePolicy: { maxReceiveCount: 1000 } })
    const { deadLetterTargetArn } = Properties['RedrivePolicy'] as { deadLetterTargetArn: unknown }
    expect(textOf(deadLetterTargetArn)).toBe('StockDeadLetterQueue.Arn')
  })

  it('hides a message for at least 15 minutes when the function is short', () => {
    const short = synthesise((stack) => {
      new OutboxConsumer(stack, 'Stock', { handler: someFunction(stack) })
    })
    expect(queueOf('StockQueue', short).Properties['VisibilityTimeout']).toBe(900)
  })

  it('is standard, with a standard dead-letter queue, for what a rule of a bus brings', () => {
    const standard = synthesise((stack) => {
      new OutboxConsumer(stack, 'Stock', { handler: someFunction(stack), fifo: false })
    })
    for (const name of ['StockQueue', 'StockDeadLetterQueue']) {
      expect(queueOf(name, standard).Properties).not.toHaveProperty('FifoQueue')
      expect(queueOf(name, standard).Properties).not.toHaveProperty('DeduplicationScope')
    }
  })
})

describe('the function of a consumer', () => {
  it('is fed with partial answers and counted events', () => {
    const { Properties, DependsOn = [] } = resourceOf(template, 'AWS::Lambda::EventSourceMapping', 'StockMapping')
    expect(Properties).toMatchObject({
      BatchSize: 10,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      MetricsConfig: { Metrics: ['EventCount'] },
    })
    expect(Properties).not.toHaveProperty('ScalingConfig')
    expect(textOf(Properties['EventSourceArn'])).toBe('StockQueue.Arn')
    expect(DependsOn.some((id) => id.startsWith('HandlerServiceRoleDefaultPolicy'))).toBe(true)
  })

  it('finds its queues and tables in its environment', () => {
    expect(environmentOf(template, 'Handler')).toEqual({
      QUEUE_URL: 'StockQueue',
      DEAD_LETTER_QUEUE_URL: 'StockDeadLetterQueue',
      LEDGER_TABLE: 'StockLedger',
    })
    const emitting = synthesise((stack) => {
      const outbox = new TransactionalOutbox(stack, 'Outbox')
      outbox.addConsumer('Stock', {
        handler: someFunction(stack),
        emitsEvents: true,
        ledgerRetention: Duration.days(40),
        maxConcurrency: 20,
        batchSize: 5,
      })
    })
    expect(environmentOf(emitting, 'Handler')).toMatchObject({ OUTBOX_TABLE: 'OutboxTable', LEDGER_KEEP_DAYS: '40' })
    expect(resourceOf(emitting, 'AWS::Lambda::EventSourceMapping', 'StockMapping').Properties).toMatchObject({
      BatchSize: 5,
      ScalingConfig: { MaximumConcurrency: 20 },
    })
  })

  it('that is imported, a version or an alias is fed too, and a warning names what to set', () => {
    const stack = new Stack(createApp(), 'Stack')
    const alias = someFunction(stack).addAlias('live') as IFunction
    const consumer = new OutboxConsumer(stack, 'Stock', { handler: alias })
    Annotations.fromStack(stack).hasWarning(
      '/Stack/Stock',
      Match.stringLikeRegexp('set LEDGER_TABLE, QUEUE_URL, DEAD_LETTER_QUEUE_URL in its environment yourself'),
    )
    expect(Object.keys(consumer.environment)).toEqual(['LEDGER_TABLE', 'QUEUE_URL', 'DEAD_LETTER_QUEUE_URL'])
    // Its timeout is not known here, so the longest that there is counts.
    expect(queueOf('StockQueue', Template.fromStack(stack)).Properties['VisibilityTimeout']).toBe(5400)
  })
})

describe('the ledger', () => {
  it('has the shape that the code reads and writes, is kept, protected and recoverable', () => {
    const ledger = resourceOf(template, 'AWS::DynamoDB::GlobalTable', 'StockLedger')
    expect(ledger).toMatchObject({ DeletionPolicy: 'Retain', UpdateReplacePolicy: 'Retain' })
    expect(ledger.Properties).toMatchObject({
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
      Replicas: [
        { DeletionProtectionEnabled: true, PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true } },
      ],
    })
    expect(ledger.Properties).not.toHaveProperty('StreamSpecification')
  })

  it('queues and ledger of one’s own are used as they are', () => {
    const given = synthesise((stack) => {
      const arn = (name: string) => `arn:aws:sqs:eu-west-1:111122223333:${name}.fifo`
      new OutboxConsumer(stack, 'Stock', {
        handler: LambdaFunction.fromFunctionAttributes(stack, 'Handler', {
          functionArn: 'arn:aws:lambda:eu-west-1:111122223333:function:handler',
          sameEnvironment: true,
        }),
        queue: Queue.fromQueueArn(stack, 'Own', arn('own')),
        deadLetterQueue: Queue.fromQueueArn(stack, 'OwnDead', arn('own-dead')),
        ledgerTable: TableV2.fromTableName(stack, 'OwnLedger', 'ledger'),
      })
    })
    expect(resourcesOf(given, 'AWS::SQS::Queue')).toEqual({})
    expect(resourcesOf(given, 'AWS::DynamoDB::GlobalTable')).toEqual({})
    given.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      EventSourceArn: 'arn:aws:sqs:eu-west-1:111122223333:own.fifo',
      FunctionName: 'handler',
    })
  })
})
