import { type App, Arn, Stack, Validations } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { AwsSolutionsChecks } from 'cdk-nag'
import { beforeAll, describe, expect, it } from 'vitest'
import { TransactionalOutbox } from '../../cdk/index.ts'
import { SampleStack } from '../../cdk/sample-stack.ts'
import { createApp, permissionsOf, resourceOf, resourcesOf, textOf } from '../support/cdk.ts'

let app: App
let template: Template
beforeAll(() => {
  // Without bundles of the sample's own functions: the deploy test makes them. Checked by CloudFormation's own rules.
  app = createApp({ context: { 'aws:cdk:bundling-stacks': [] }, validate: true })
  template = Template.fromStack(new SampleStack(app, 'Sample'))
})

describe('the sample under the AwsSolutions checks of cdk-nag', () => {
  it('is clean', () => {
    expect(new AwsSolutionsChecks(app).validateScope(app).violations).toEqual([])
  })

  it('has acknowledged one finding, with its reason', () => {
    const acknowledged = app.node
      .findAll()
      .flatMap(({ node }) => node.metadata)
      .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    expect(acknowledged.map(({ data }) => Object.entries(data as Record<string, string>))).toEqual([
      [
        [
          expect.stringMatching(/AwsSolutions-IAM5\[Resource::<OutboxTable\w+\.Arn>\/stream\/\*\]$/),
          expect.stringMatching(/ListStreams/),
        ],
      ],
    ])
  })

  it('so is an outbox on an imported table', () => {
    for (const env of [{ account: '111111111111', region: 'eu-west-1' }, {}]) {
      const other = createApp()
      const stack = new Stack(other, 'Stack', { env })
      const tableArn = Arn.format({ service: 'dynamodb', resource: 'table', resourceName: 'outbox' }, stack)
      const tableStreamArn = `${tableArn}/stream/2026-01-01T00:00:00.000`
      const table = TableV2.fromTableAttributes(stack, 'Table', { tableArn, tableStreamArn })
      const queue = Queue.fromQueueArn(stack, 'Queue', Arn.format({ service: 'sqs', resource: 'q.fifo' }, stack))
      new TransactionalOutbox(stack, 'Outbox', { table, routes: [{ to: { name: 'q', queue } }] })
      expect(new AwsSolutionsChecks(other).validateScope(other).violations).toEqual([])
    }
  })

  it('is checked indeed: a queue without TLS and dead letters is found', () => {
    const bare = createApp()
    new Queue(new Stack(bare, 'Stack'), 'Queue')
    const { violations } = new AwsSolutionsChecks(bare).validateScope(bare)
    expect(violations.map(({ ruleName }) => ruleName).sort()).toEqual(['AwsSolutions-SQS3', 'AwsSolutions-SQS4'])
  })
})

describe('the sample', () => {
  it('may be thrown away whole', () => {
    for (const type of ['AWS::DynamoDB::GlobalTable', 'AWS::SQS::Queue', 'AWS::Logs::LogGroup'])
      for (const { DeletionPolicy } of Object.values(resourcesOf(template, type))) expect(DeletionPolicy).toBe('Delete')
  })

  it('lets each function do what it does', () => {
    expect(permissionsOf(template, 'PlaceOrderRoleDefaultPolicy')).toEqual([
      'Allow dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query on OutboxTable.Arn',
      'Allow dynamodb:PutItem on Shop.Arn',
      'Allow logs:CreateLogStream, logs:PutLogEvents on PlaceOrderLogs.Arn',
    ])
    expect(permissionsOf(template, 'ShopHandlersRoleDefaultPolicy')).toContain(
      'Allow dynamodb:GetItem, dynamodb:PutItem, dynamodb:UpdateItem on Shop.Arn',
    )
    expect(permissionsOf(template, 'ShippingHandlersRoleDefaultPolicy')).toContain(
      'Allow dynamodb:UpdateItem on Shop.Arn',
    )
  })

  it('brings reserved stock from the bus to a standard queue, and what cannot be delivered to its dead letters', () => {
    const { Properties } = resourceOf(template, 'AWS::Events::Rule', 'ReservedStock')
    expect(Properties['EventPattern']).toEqual({ source: ['shop'], 'detail-type': ['stock.reserved'] })
    const [target] = Properties['Targets'] as [{ Arn: unknown; DeadLetterConfig: { Arn: unknown } }]
    expect(textOf(target.Arn)).toBe('ShippingQueue.Arn')
    expect(textOf(target.DeadLetterConfig.Arn)).toBe('ShippingDeadLetterQueue.Arn')
  })
})
