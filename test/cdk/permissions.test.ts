import { globSync, readFileSync } from 'node:fs'
import type { Template } from 'aws-cdk-lib/assertions'
import { EventBus, type IEventBus } from 'aws-cdk-lib/aws-events'
import { User } from 'aws-cdk-lib/aws-iam'
import { beforeAll, describe, expect, it } from 'vitest'
import { ACTIONS } from '../../cdk/grants.ts'
import { OutboxConsumer, TransactionalOutbox } from '../../cdk/index.ts'
import { permissionsOf, resourcesOf, someFunction, statementsIn, synthesise } from '../support/cdk.ts'

let template: Template
beforeAll(() => {
  template = synthesise((stack) => {
    const outbox = new TransactionalOutbox(stack, 'Outbox')
    const orders = outbox.addConsumer('Orders', { handler: someFunction(stack, 'OrdersHandler'), emitsEvents: true })
    outbox.addRoute({ to: { name: 'bus', eventBus: new EventBus(stack, 'Bus') as IEventBus } })
    new OutboxConsumer(stack, 'Parcels', { handler: someFunction(stack, 'ParcelsHandler'), fifo: false })
    outbox.grantEnqueue(new User(stack, 'Writer'))
    outbox.grantRead(new User(stack, 'Reader'))
    outbox.grantOperate(new User(stack, 'Operator'))
    orders.grantSend(new User(stack, 'Sender'))
    orders.grantOperate(new User(stack, 'Redriver'))
  })
})

/** What somebody may do, statement by statement. */
const may = (name: string) => permissionsOf(template, `${name}DefaultPolicy`)

const ROWS = 'dynamodb:BatchGetItem, dynamodb:GetItem, dynamodb:PartiQLUpdate, dynamodb:Query, dynamodb:UpdateItem'
const SENDING = [
  'Allow dynamodb:Query on OutboxTable.Arn/index/pending',
  `Allow ${ROWS} on OutboxTable.Arn`,
  'Allow events:DescribeEventBus, events:PutEvents on Bus.Arn',
  'Allow sqs:SendMessage on OutboxOrdersQueue.Arn',
]
const LEDGER = 'dynamodb:BatchGetItem, dynamodb:PartiQLInsert, dynamodb:PartiQLUpdate, dynamodb:UpdateItem'
const READING = 'dynamodb:BatchGetItem, dynamodb:DescribeTable, dynamodb:GetItem, dynamodb:Query, dynamodb:Scan'
const CONSUME = 'sqs:ChangeMessageVisibility, sqs:DeleteMessage, sqs:GetQueueAttributes, sqs:ReceiveMessage'

describe('who may do what', () => {
  it('the relay reads and marks rows, reads the stream, sends, and writes its own log', () => {
    expect(may('OutboxRelayRole')).toEqual(
      [
        ...SENDING,
        'Allow dynamodb:DescribeStream, dynamodb:GetRecords, dynamodb:GetShardIterator on OutboxTable.StreamArn',
        'Allow dynamodb:ListStreams on OutboxTable.Arn/stream/*',
        'Allow logs:CreateLogStream, logs:PutLogEvents on OutboxRelayLogs.Arn',
      ].sort(),
    )
  })

  it('the sweeper does the same without the stream', () => {
    expect(may('OutboxSweeperRole')).toEqual(
      [...SENDING, 'Allow logs:CreateLogStream, logs:PutLogEvents on OutboxSweeperLogs.Arn'].sort(),
    )
  })

  it('the schedule starts the sweeper, for this account alone', () => {
    expect(may('OutboxSweeperScheduleRole')).toEqual(['Allow lambda:InvokeFunction on OutboxSweeper.Arn'])
    template.hasResourceProperties('AWS::IAM::Role', {
      AssumeRolePolicyDocument: {
        Statement: [
          {
            Principal: { Service: 'scheduler.amazonaws.com' },
            Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
          },
        ],
      },
    })
  })

  it('a consumer that emits events takes messages, claims in its ledger, dead-letters and enqueues', () => {
    expect(may('OrdersHandlerServiceRole')).toEqual([
      `Allow ${LEDGER} on OutboxOrdersLedger.Arn`,
      'Allow dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query on OutboxTable.Arn',
      `Allow ${CONSUME} on OutboxOrdersQueue.Arn`,
      'Allow sqs:SendMessage on OutboxOrdersDeadLetterQueue.Arn',
    ])
  })

  it('a consumer that emits none has nothing to do with the outbox', () => {
    expect(may('ParcelsHandlerServiceRole')).toEqual([
      `Allow ${LEDGER} on ParcelsLedger.Arn`,
      `Allow ${CONSUME} on ParcelsQueue.Arn`,
      'Allow sqs:SendMessage on ParcelsDeadLetterQueue.Arn',
    ])
  })

  it('writers, readers and operators get what their grant says', () => {
    expect(may('Writer')).toEqual(['Allow dynamodb:GetItem, dynamodb:PutItem, dynamodb:Query on OutboxTable.Arn'])
    expect(may('Reader')).toEqual([
      `Allow ${READING} on OutboxTable.Arn`,
      'Allow dynamodb:Query on OutboxTable.Arn/index/pending',
    ])
    expect(may('Operator')).toEqual([
      `Allow ${READING}, dynamodb:UpdateItem on OutboxTable.Arn`,
      'Allow dynamodb:Query on OutboxTable.Arn/index/pending',
    ])
    expect(may('Sender')).toEqual(['Allow sqs:SendMessage on OutboxOrdersQueue.Arn'])
    expect(may('Redriver')).toEqual([
      'Allow dynamodb:Query, dynamodb:UpdateItem on OutboxOrdersLedger.Arn',
      `Allow ${CONSUME} on OutboxOrdersDeadLetterQueue.Arn`,
      'Allow sqs:GetQueueAttributes, sqs:SendMessage on OutboxOrdersQueue.Arn',
    ])
  })

  it('names each action, and has a wildcard in one resource only: the streams of one table, as AWS documents it', () => {
    const statements = Object.values(resourcesOf(template, 'AWS::IAM::Policy')).flatMap(statementsIn)
    expect(statements.flatMap(({ Action }) => Action).filter((action) => action.includes('*'))).toEqual([])
    const wild = statements.filter(({ Resource }) => JSON.stringify(Resource).includes('*'))
    expect(wild.map(({ Action }) => Action)).toEqual(['dynamodb:ListStreams'])
  })

  it('no queue can be reached but over TLS', () => {
    const policies = Object.values(resourcesOf(template, 'AWS::SQS::QueuePolicy')).map(statementsIn)
    expect(policies).toHaveLength(4)
    for (const statements of policies) {
      expect(statements).toContainEqual(
        expect.objectContaining({ Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } }),
      )
    }
  })
})

/** The IAM actions that each command of the SDK needs. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  BatchExecuteStatementCommand: ['dynamodb:PartiQLInsert', 'dynamodb:PartiQLUpdate'],
  BatchGetItemCommand: ['dynamodb:BatchGetItem'],
  ChangeMessageVisibilityBatchCommand: ['sqs:ChangeMessageVisibility'],
  DeleteMessageBatchCommand: ['sqs:DeleteMessage'],
  DescribeTableCommand: ['dynamodb:DescribeTable'],
  GetQueueAttributesCommand: ['sqs:GetQueueAttributes'],
  ScanCommand: ['dynamodb:Scan'],
  DescribeEventBusCommand: ['events:DescribeEventBus'],
  GetItemCommand: ['dynamodb:GetItem'],
  PutEventsCommand: ['events:PutEvents'],
  QueryCommand: ['dynamodb:Query'],
  ReceiveMessageCommand: ['sqs:ReceiveMessage'],
  SendMessageBatchCommand: ['sqs:SendMessage'],
  SendMessageCommand: ['sqs:SendMessage'],
  TransactGetItemsCommand: ['dynamodb:GetItem'],
  // The outbox's own part of a transaction is a Put, the ledger's an Update.
  TransactWriteCommand: ['dynamodb:PutItem', 'dynamodb:UpdateItem'],
  TransactWriteItemsCommand: ['dynamodb:PutItem', 'dynamodb:UpdateItem'],
  UpdateItemCommand: ['dynamodb:UpdateItem'],
}

function actionsCalledIn(folder: string): ReadonlySet<string> {
  const files = globSync(`src/${folder}/*.ts`).filter((file) => !file.includes('create-tables'))
  const commands = files.flatMap((file) => readFileSync(file, 'utf8').match(/(?<=new )[A-Z]\w+Command(?=[<(])/g) ?? [])
  return new Set(commands.flatMap((command) => NEEDED[command] ?? [`unknown: ${command}`]))
}

describe('grants follow the code', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['outbox', [...ACTIONS.enqueue], ['dynamodb:UpdateItem']],
    ['relay', [...ACTIONS.relay, ...ACTIONS.index, ...ACTIONS.send, ...ACTIONS.publish], ['dynamodb:PartiQLInsert']],
    ['ledger', [...ACTIONS.ledger.filter((action) => action !== 'dynamodb:UpdateItem')], []],
    ['consumer', ['sqs:ChangeMessageVisibility', ...ACTIONS.send], []],
    ['ops', [...ACTIONS.operate, ...ACTIONS.operateLedger, ...ACTIONS.redrive, ...ACTIONS.depth, ...ACTIONS.send], []],
  ])('of src/%s: every action that its commands need is granted, and no other', (folder, granted, elsewhere) => {
    const called = [...actionsCalledIn(folder)].filter((action) => !elsewhere.includes(action))
    expect(called.sort()).toEqual([...new Set(granted)].sort())
  })
})
