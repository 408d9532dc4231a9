import type { ITable } from 'aws-cdk-lib/aws-dynamodb'
import type { IEventBus } from 'aws-cdk-lib/aws-events'
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam'
import type { IKey } from 'aws-cdk-lib/aws-kms'
import type { IQueue } from 'aws-cdk-lib/aws-sqs'
import { OUTBOX_TABLE } from '../src/tables.ts'

/**
 * Every IAM action, and nothing but what the code calls. A transaction needs the actions of its parts (`PutItem`,
 * `GetItem` …); PartiQL has actions of its own, which no `grantWriteData` includes.
 */
export const ACTIONS = {
  enqueue: ['dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:Query'],
  relay: [
    'dynamodb:BatchGetItem',
    'dynamodb:GetItem',
    'dynamodb:PartiQLUpdate',
    'dynamodb:Query',
    'dynamodb:UpdateItem',
  ],
  read: ['dynamodb:BatchGetItem', 'dynamodb:DescribeTable', 'dynamodb:GetItem', 'dynamodb:Query', 'dynamodb:Scan'],
  operate: [
    'dynamodb:BatchGetItem',
    'dynamodb:DescribeTable',
    'dynamodb:GetItem',
    'dynamodb:Query',
    'dynamodb:Scan',
    'dynamodb:UpdateItem',
  ],
  operateLedger: ['dynamodb:Query', 'dynamodb:UpdateItem'],
  index: ['dynamodb:Query'],
  stream: ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
  streams: ['dynamodb:ListStreams'],
  ledger: ['dynamodb:BatchGetItem', 'dynamodb:PartiQLInsert', 'dynamodb:PartiQLUpdate', 'dynamodb:UpdateItem'],
  send: ['sqs:SendMessage'],
  consume: ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'],
  redrive: ['sqs:ChangeMessageVisibility', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes', 'sqs:ReceiveMessage'],
  depth: ['sqs:GetQueueAttributes'],
  publish: ['events:DescribeEventBus', 'events:PutEvents'],
  readKey: ['kms:Decrypt', 'kms:DescribeKey'],
  writeKey: [
    'kms:Decrypt',
    'kms:DescribeKey',
    'kms:Encrypt',
    'kms:GenerateDataKey',
    'kms:ReEncryptFrom',
    'kms:ReEncryptTo',
  ],
  sendKey: ['kms:GenerateDataKey'],
  receiveKey: ['kms:Decrypt'],
} as const satisfies Record<string, readonly string[]>

/** The actions on a table, those on its index `pending` if any, and those on its key if it has one of the customer's. */
export function grantOnTable(
  table: ITable,
  grantee: IGrantable,
  { actions, index, key }: { actions: readonly string[]; index?: readonly string[]; key: readonly string[] },
): Grant {
  const grant = Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns: [table.tableArn] })
  const withIndex =
    index === undefined
      ? grant
      : grant.combine(
          Grant.addToPrincipal({
            grantee,
            actions: [...index],
            resourceArns: [`${table.tableArn}/index/${OUTBOX_TABLE.index?.name}`],
          }),
        )
  return withKey(withIndex, grantee, { key: table.encryptionKey, actions: key })
}

/** What Lambda's poller needs of the table's stream. `ListStreams` is asked for the table, not for one stream of it. */
export function grantStream(table: ITable, grantee: IGrantable, streamArn: string): Grant {
  return Grant.addToPrincipal({
    grantee,
    actions: [...ACTIONS.stream],
    resourceArns: [streamArn],
  }).combine(
    Grant.addToPrincipal({
      grantee,
      actions: [...ACTIONS.streams],
      resourceArns: [`${table.tableArn}/stream/*`],
    }),
  )
}

/** For a grantee of the queue's account. */
export function grantOnQueue(
  queue: IQueue,
  grantee: IGrantable,
  { actions, key }: { actions: readonly string[]; key: readonly string[] },
): Grant {
  const grant = Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns: [queue.queueArn] })
  return withKey(grant, grantee, { key: queue.encryptionMasterKey, actions: key })
}

/** The queue's own policy allows it too if the grantee belongs to another account. */
export function grantSend(queue: IQueue, grantee: IGrantable): Grant {
  const grant = Grant.addToPrincipalOrResource({
    grantee,
    actions: [...ACTIONS.send],
    resourceArns: [queue.queueArn],
    resource: queue,
  })
  return withKey(grant, grantee, { key: queue.encryptionMasterKey, actions: ACTIONS.sendKey })
}

/** On a bus of another account, that bus's policy must allow both actions too. */
export function grantOnEventBus(eventBus: IEventBus, grantee: IGrantable): Grant {
  return Grant.addToPrincipal({
    grantee,
    actions: [...ACTIONS.publish],
    resourceArns: [eventBus.eventBusArn],
  })
}

function withKey(grant: Grant, grantee: IGrantable, { key, actions }: KeyUse): Grant {
  return key === undefined ? grant : grant.combine(key.grant(grantee, ...actions))
}

/** A customer's key, if there is one, and what is done with it. */
type KeyUse = { readonly key: IKey | undefined; readonly actions: readonly string[] }
