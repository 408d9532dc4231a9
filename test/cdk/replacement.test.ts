import { readFileSync } from 'node:fs'
import { Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { expect, it } from 'vitest'
import { TransactionalOutbox } from '../../cdk/index.ts'
import { createApp, type Resource, someFunction } from '../support/cdk.ts'

/**
 * What CloudFormation replaces a resource for. A replaced table or queue is a new, empty one beside the old one that is
 * kept; a replaced stream or mapping reads a day of records again. `[]` marks every element of a list.
 */
const REPLACED: Readonly<Record<string, readonly string[]>> = {
  'AWS::DynamoDB::GlobalTable': [
    'TableName',
    'KeySchema',
    // Not the table, but its index or stream: the pending rows are indexed anew, the mapping follows the new stream.
    'GlobalSecondaryIndexes.[].IndexName',
    'GlobalSecondaryIndexes.[].KeySchema',
    'GlobalSecondaryIndexes.[].Projection',
    'StreamSpecification.StreamViewType',
  ],
  'AWS::SQS::Queue': ['QueueName', 'FifoQueue'],
  'AWS::Lambda::EventSourceMapping': ['EventSourceArn', 'StartingPosition'],
  'AWS::Lambda::Function': ['FunctionName', 'PackageType'],
  'AWS::Lambda::EventInvokeConfig': ['FunctionName', 'Qualifier'],
  'AWS::IAM::Role': ['RoleName', 'Path'],
  'AWS::Logs::LogGroup': ['LogGroupName'],
  'AWS::Scheduler::Schedule': ['Name', 'GroupName'],
  'AWS::CloudWatch::Dashboard': ['DashboardName'],
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [head, ...rest] = path
  if (head === undefined || value === undefined) return value
  if (head === '[]') return (value as unknown[]).map((element) => valueAt(element, rest))
  return valueAt((value as Record<string, unknown>)[head], rest)
}

function identityOf({ Type, Properties }: Resource): Record<string, unknown> | undefined {
  const paths = REPLACED[Type]
  if (paths === undefined) return undefined
  const values = paths.map((path) => [path, valueAt(Properties, path.split('.'))] as const)
  return { Type, ...Object.fromEntries(values.filter(([, value]) => value !== undefined)) }
}

it('an upgrade replaces nothing: logical ids and everything that CloudFormation replaces a resource for stay as they are', () => {
  const stack = new Stack(createApp(), 'Stack')
  const outbox = new TransactionalOutbox(stack, 'Outbox')
  outbox.addConsumer('Orders', { handler: someFunction(stack), emitsEvents: true })
  const resources = Object.entries(Template.fromStack(stack).toJSON()['Resources'] as Record<string, Resource>)
  const identities = resources
    .filter(([id]) => id.startsWith('Outbox'))
    .map(([id, resource]) => [id, identityOf(resource)] as const)
  const now = Object.fromEntries(identities.filter(([, identity]) => identity !== undefined))
  // A difference here means that deployed stacks lose or repeat something. If it must be: a major version, and its
  // steps in docs/deploy.md, "Upgrades".
  expect(now).toEqual(JSON.parse(readFileSync('test/cdk/replaced-properties.json', 'utf8')))
})
