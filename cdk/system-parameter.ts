import { Stack, Token } from 'aws-cdk-lib'
import { type IStringParameter, StringParameter } from 'aws-cdk-lib/aws-ssm'
import type { Construct } from 'constructs'
import { type ConsumerParameter, type OutboxParameter, SYSTEMS_PATH } from '../src/system-parameter.ts'

/**
 * What a construct has made, as a parameter `/dynamodb-outbox/<stack>/<path in the stack>`: by it the command finds tables,
 * queues and functions. Names only; standard tier, which costs nothing.
 */
export function writeSystemParameter(scope: Construct, content: OutboxParameter | ConsumerParameter): IStringParameter {
  const stack = Stack.of(scope)
  const path = scope.node.scopes
    .slice(stack.node.scopes.length)
    .map(({ node }) => node.id.replace(/[^\w.-]/g, '-'))
    .join('/')
  const stackName = Token.isUnresolved(stack.stackName) ? stack.artifactId : stack.stackName
  return new StringParameter(scope, 'Parameter', {
    parameterName: `${SYSTEMS_PATH}${stackName}/${path}`,
    simpleName: false,
    description: 'What the dynamodb-outbox command works on',
    stringValue: stack.toJsonString(content),
  })
}
