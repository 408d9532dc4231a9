import { Arn, Stack, Tags } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { type IVpc, Vpc } from 'aws-cdk-lib/aws-ec2'
import { ArnPrincipal, ManagedPolicy, PermissionsBoundary, Role, ServicePrincipal, User } from 'aws-cdk-lib/aws-iam'
import { Key } from 'aws-cdk-lib/aws-kms'
import { Queue } from 'aws-cdk-lib/aws-sqs'
import { describe, expect, it } from 'vitest'
import { OutboxConsumer, TransactionalOutbox } from '../../cdk/index.ts'
import {
  createApp,
  permissionsOf,
  resourceOf,
  resourcesOf,
  someFunction,
  statementsIn,
  synthesise,
  textOf,
} from '../support/cdk.ts'

const A = { account: '111111111111', region: 'eu-central-1' }
const B = { account: '222222222222', region: 'eu-central-1' }

describe('in an organisation', () => {
  it('every role has the permission boundary, and everything that can be tagged has the tags', () => {
    const template = synthesise((stack) => {
      const outbox = new TransactionalOutbox(stack, 'Outbox')
      outbox.addConsumer('Orders', { handler: someFunction(stack) })
      PermissionsBoundary.of(stack).apply(ManagedPolicy.fromManagedPolicyName(stack, 'Limit', 'limit'))
      Tags.of(stack).add('team', 'orders')
    })
    const roles = Object.values(resourcesOf(template, 'AWS::IAM::Role'))
    expect(roles.length).toBeGreaterThanOrEqual(4)
    for (const { Properties } of roles) expect(textOf(Properties['PermissionsBoundary'])).toMatch(/policy\/limit$/)
    const tag = { Key: 'team', Value: 'orders' }
    const tagged = ['AWS::SQS::Queue', 'AWS::Lambda::Function', 'AWS::IAM::Role', 'AWS::Logs::LogGroup']
    for (const type of [...tagged, 'AWS::Lambda::EventSourceMapping', 'AWS::CloudWatch::Alarm'])
      for (const { Properties } of Object.values(resourcesOf(template, type))) expect(Properties['Tags']).toEqual([tag])
    for (const { Properties } of Object.values(resourcesOf(template, 'AWS::DynamoDB::GlobalTable')))
      expect(Properties['Replicas']).toMatchObject([{ Tags: [tag] }])
  })

  it('works in an app without any feature flag', () => {
    const stack = new Stack(createApp({ context: false }), 'Stack')
    new TransactionalOutbox(stack, 'Outbox').addConsumer('Orders', { handler: someFunction(stack), emitsEvents: true })
    expect(permissionsOf(Template.fromStack(stack), 'HandlerServiceRoleDefaultPolicy')).toHaveLength(4)
  })

  it('in a network, the functions may use its interfaces', () => {
    const template = synthesise((stack) => {
      const queue = new Queue(stack, 'Queue', { fifo: true })
      const vpc = new Vpc(stack, 'Vpc', { maxAzs: 2 }) as IVpc
      new TransactionalOutbox(stack, 'Outbox', { vpc, routes: [{ to: { name: 'q', queue } }] })
    })
    for (const name of ['OutboxRelay', 'OutboxSweeper']) {
      expect(resourceOf(template, 'AWS::Lambda::Function', name).Properties['VpcConfig']).toBeDefined()
      // AWS has no narrower resource for an interface that does not exist yet.
      expect(permissionsOf(template, `${name}RoleDefaultPolicy`)).toContain(
        'Allow ec2:AssignPrivateIpAddresses, ec2:CreateNetworkInterface, ec2:DeleteNetworkInterface, ' +
          'ec2:DescribeNetworkInterfaces, ec2:DescribeSubnets, ec2:UnassignPrivateIpAddresses on *',
      )
    }
  })

  it('a given role is used for both functions, and gets what they need', () => {
    const template = synthesise((stack) => {
      const role = new Role(stack, 'Given', { assumedBy: new ServicePrincipal('lambda.amazonaws.com') })
      const outbox = new TransactionalOutbox(stack, 'Outbox', { role })
      outbox.addConsumer('Orders', { handler: someFunction(stack) })
    })
    for (const name of ['OutboxRelay', 'OutboxSweeper'])
      expect(textOf(resourceOf(template, 'AWS::Lambda::Function', name).Properties['Role'])).toBe('Given.Arn')
    expect(permissionsOf(template, 'GivenDefaultPolicy')).toContain('Allow sqs:SendMessage on OutboxOrdersQueue.Arn')
  })
})

describe('a key of the customer’s', () => {
  it('encrypts table, ledger, queues and logs, and the grants follow', () => {
    const template = synthesise(
      (stack) => {
        const encryptionKey = new Key(stack, 'Key')
        const outbox = new TransactionalOutbox(stack, 'Outbox', { encryptionKey })
        outbox.addConsumer('Orders', { handler: someFunction(stack), emitsEvents: true })
        outbox.grantRead(new User(stack, 'Reader'))
      },
      { env: A },
    )
    for (const { Properties } of Object.values(resourcesOf(template, 'AWS::DynamoDB::GlobalTable'))) {
      expect(Properties['SSESpecification']).toEqual({ SSEEnabled: true, SSEType: 'KMS' })
      expect(
        textOf(
          (Properties['Replicas'] as [{ SSESpecification: { KMSMasterKeyId: unknown } }])[0].SSESpecification
            .KMSMasterKeyId,
        ),
      ).toBe('Key.Arn')
    }
    for (const { Properties } of Object.values(resourcesOf(template, 'AWS::SQS::Queue')))
      expect(textOf(Properties['KmsMasterKeyId'])).toBe('Key.Arn')
    for (const name of ['OutboxRelayLogs', 'OutboxSweeperLogs'])
      expect(textOf(resourceOf(template, 'AWS::Logs::LogGroup', name).Properties['KmsKeyId'])).toBe('Key.Arn')

    const onKey = (policy: string) =>
      permissionsOf(template, policy).filter((permission) => permission.endsWith('on Key.Arn'))
    const rows = 'kms:Decrypt, kms:DescribeKey, kms:Encrypt, kms:GenerateDataKey, kms:ReEncryptFrom, kms:ReEncryptTo'
    for (const policy of [
      'OutboxRelayRoleDefaultPolicy',
      'OutboxSweeperRoleDefaultPolicy',
      'HandlerServiceRoleDefaultPolicy',
    ])
      expect(onKey(policy).join()).toContain(`Allow ${rows} on Key.Arn`)
    expect(onKey('ReaderDefaultPolicy')).toEqual(['Allow kms:Decrypt, kms:DescribeKey on Key.Arn'])
  })

  it('may be used by CloudWatch Logs of this Region and account', () => {
    const template = synthesise(
      (stack) => {
        const outbox = new TransactionalOutbox(stack, 'Outbox', { encryptionKey: new Key(stack, 'Key') })
        outbox.addConsumer('Orders', { handler: someFunction(stack) })
      },
      { env: A },
    )
    const { KeyPolicy } = resourceOf(template, 'AWS::KMS::Key', 'Key').Properties as {
      KeyPolicy: { Statement: { Principal: { Service?: unknown }; Action: readonly string[]; Condition?: unknown }[] }
    }
    const logs = KeyPolicy.Statement.filter(({ Principal }) => Principal.Service !== undefined)
    expect(logs.length).toBeGreaterThan(0)
    for (const { Principal, Action, Condition } of logs) {
      expect(textOf(Principal.Service)).toBe('logs.eu-central-1.amazonaws.com')
      expect(Action.filter((action) => action.includes('*'))).toEqual([])
      expect(
        textOf((Condition as { ArnLike: Record<string, unknown> }).ArnLike['kms:EncryptionContext:aws:logs:arn']),
      ).toBe('arn:aws:logs:eu-central-1:111111111111:log-group:*')
    }
  })
})

describe('in several stacks', () => {
  it('a consumer has a stack of its own: the outbox sends to its queue', () => {
    const app = createApp()
    const outboxStack = new Stack(app, 'OutboxStack', { env: A })
    const consumerStack = new Stack(app, 'ConsumerStack', { env: A })
    const { queue } = new OutboxConsumer(consumerStack, 'Stock', { handler: someFunction(consumerStack) })
    new TransactionalOutbox(outboxStack, 'Outbox', { routes: [{ to: { name: 'stock', queue } }] })
    const template = Template.fromStack(outboxStack)
    expect(permissionsOf(template, 'OutboxRelayRoleDefaultPolicy')).toContainEqual(
      expect.stringMatching(/^Allow sqs:SendMessage on FnGetAttStockQueue.*Arn/),
    )
    expect(outboxStack.dependencies).toEqual([consumerStack])
  })

  it('a consumer that emits into the outbox too is named, so that neither stack needs the other to be there first', () => {
    const app = createApp()
    const outboxStack = new Stack(app, 'OutboxStack', { env: A })
    const consumerStack = new Stack(app, 'ConsumerStack', { env: A })
    const queueArn = Arn.format({ service: 'sqs', resource: 'stock.fifo' }, outboxStack)
    const outbox = new TransactionalOutbox(outboxStack, 'Outbox', {
      routes: [{ to: { name: 'stock', queue: Queue.fromQueueArn(outboxStack, 'Stock', queueArn) } }],
    })
    new OutboxConsumer(consumerStack, 'Stock', {
      handler: someFunction(consumerStack),
      queueName: 'stock.fifo',
      outbox,
    })
    expect(permissionsOf(Template.fromStack(outboxStack), 'OutboxRelayRoleDefaultPolicy')).toContain(
      'Allow sqs:SendMessage on arn:aws:sqs:eu-central-1:111111111111:stock.fifo',
    )
    expect(resourceOf(Template.fromStack(consumerStack), 'AWS::SQS::Queue', 'StockQueue').Properties['QueueName']).toBe(
      'stock.fifo',
    )
    expect(consumerStack.dependencies).toEqual([outboxStack])
  })

  it('a consumer in another account: its queue’s policy lets the relay of this account send', () => {
    const consumerStack = new Stack(createApp(), 'ConsumerStack', { env: B })
    const consumer = new OutboxConsumer(consumerStack, 'Stock', {
      handler: someFunction(consumerStack),
      queueName: 'stock.fifo',
    })
    consumer.grantSend(new ArnPrincipal('arn:aws:iam::111111111111:role/relay'))
    const policy = resourceOf(Template.fromStack(consumerStack), 'AWS::SQS::QueuePolicy', 'StockQueuePolicy')
    expect(statementsIn(policy)).toContainEqual({
      Action: 'sqs:SendMessage',
      Effect: 'Allow',
      Principal: { AWS: 'arn:aws:iam::111111111111:role/relay' },
      Resource: { 'Fn::GetAtt': [expect.stringMatching(/^StockQueue/), 'Arn'] },
    })

    const outboxStack = new Stack(createApp(), 'OutboxStack', { env: A })
    const queue = Queue.fromQueueArn(outboxStack, 'Stock', 'arn:aws:sqs:eu-central-1:222222222222:stock.fifo')
    new TransactionalOutbox(outboxStack, 'Outbox', { routes: [{ to: { name: 'stock', queue } }] })
    const template = Template.fromStack(outboxStack)
    expect(permissionsOf(template, 'OutboxRelayRoleDefaultPolicy')).toContain(
      'Allow sqs:SendMessage on arn:aws:sqs:eu-central-1:222222222222:stock.fifo',
    )
    const { Variables } = resourceOf(template, 'AWS::Lambda::Function', 'OutboxRelay').Properties['Environment'] as {
      Variables: Record<string, unknown>
    }
    expect(textOf(Variables['OUTBOX_ROUTES'])).toContain('/222222222222/stock.fifo"')
  })

  it('a queue elsewhere with a key of the customer’s is imported with it: both accounts then allow its use', () => {
    const consumerStack = new Stack(createApp(), 'ConsumerStack', { env: B })
    const encryptionKey = new Key(consumerStack, 'Key')
    const consumer = new OutboxConsumer(consumerStack, 'Stock', { handler: someFunction(consumerStack), encryptionKey })
    consumer.grantSend(new ArnPrincipal('arn:aws:iam::111111111111:role/relay'))
    const { KeyPolicy } = resourceOf(Template.fromStack(consumerStack), 'AWS::KMS::Key', 'Key').Properties
    expect((KeyPolicy as { Statement: unknown }).Statement).toContainEqual({
      Action: 'kms:GenerateDataKey',
      Effect: 'Allow',
      Principal: { AWS: 'arn:aws:iam::111111111111:role/relay' },
      Resource: '*',
    })

    const outboxStack = new Stack(createApp(), 'OutboxStack', { env: A })
    const queue = Queue.fromQueueAttributes(outboxStack, 'Stock', {
      queueArn: 'arn:aws:sqs:eu-central-1:222222222222:stock.fifo',
      keyArn: 'arn:aws:kms:eu-central-1:222222222222:key/k',
    })
    new TransactionalOutbox(outboxStack, 'Outbox', { routes: [{ to: { name: 'stock', queue } }] })
    for (const name of ['OutboxRelay', 'OutboxSweeper'])
      expect(permissionsOf(Template.fromStack(outboxStack), `${name}RoleDefaultPolicy`)).toContain(
        'Allow kms:GenerateDataKey on arn:aws:kms:eu-central-1:222222222222:key/k',
      )
  })

  it('writers elsewhere enqueue into an outbox that they know by its table', () => {
    const template = synthesise((stack) => {
      const encryptionKey = Key.fromKeyArn(stack, 'Key', 'arn:aws:kms:eu-central-1:111111111111:key/k')
      const tableArn = 'arn:aws:dynamodb:eu-central-1:111111111111:table/outbox'
      const table = TableV2.fromTableAttributes(stack, 'Table', { tableArn, encryptionKey })
      const outbox = TransactionalOutbox.fromOutboxAttributes(stack, 'Outbox', { table })
      outbox.grantEnqueue(new User(stack, 'Writer'))
      expect(outbox.metricOldestPending().dimensions).toEqual({ service: 'outbox', Table: 'outbox' })
    })
    expect(permissionsOf(template, 'WriterDefaultPolicy')).toEqual([
      'Allow dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query on arn:aws:dynamodb:eu-central-1:111111111111:table/outbox',
      'Allow kms:Decrypt, kms:DescribeKey, kms:Encrypt, kms:GenerateDataKey, kms:ReEncryptFrom, kms:ReEncryptTo on arn:aws:kms:eu-central-1:111111111111:key/k',
    ])
    expect(resourcesOf(template, 'AWS::DynamoDB::GlobalTable')).toEqual({})
  })

  it('an imported table with its stream is relayed like one of its own', () => {
    const template = synthesise((stack) => {
      const tableArn = 'arn:aws:dynamodb:eu-central-1:111111111111:table/outbox'
      const table = TableV2.fromTableAttributes(stack, 'Table', {
        tableArn,
        tableStreamArn: `${tableArn}/stream/2026-01-01T00:00:00.000`,
      })
      const queue = new Queue(stack, 'Queue', { fifo: true })
      new TransactionalOutbox(stack, 'Outbox', { table, routes: [{ to: { name: 'q', queue } }] })
    })
    expect(resourcesOf(template, 'AWS::DynamoDB::GlobalTable')).toEqual({})
    expect(permissionsOf(template, 'OutboxRelayRoleDefaultPolicy')).toContain(
      'Allow dynamodb:DescribeStream, dynamodb:GetRecords, dynamodb:GetShardIterator on arn:aws:dynamodb:eu-central-1:111111111111:table/outbox/stream/2026-01-01T00:00:00.000',
    )
  })
})
