import { Template } from 'aws-cdk-lib/assertions'
import * as cdk from 'aws-cdk-lib/core'
import { OutboxAppStack } from '../lib/outbox-app-stack'

test('has an outbox, its relay and a consumer', () => {
  const template = Template.fromStack(new OutboxAppStack(new cdk.App(), 'Test'))
  template.resourceCountIs('AWS::SQS::Queue', 2)
  template.resourceCountIs('AWS::Lambda::EventSourceMapping', 2)
  template.hasResourceProperties('AWS::Lambda::EventSourceMapping', { StartingPosition: 'TRIM_HORIZON' })
})
