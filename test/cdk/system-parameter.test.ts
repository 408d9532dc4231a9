import { App } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import { expect, it } from 'vitest'
import { SampleStack } from '../../cdk/sample-stack.ts'
import { readSystems } from '../../src/system-parameter.ts'
import { type Resource, resourcesOf } from '../support/cdk.ts'

/** A value of CloudFormation as text: what is only known once deployed stands as the name of what it is taken from. */
function resolved(value: unknown): string {
  if (typeof value === 'string') return value
  const { 'Fn::Join': join, 'Fn::GetAtt': attribute, Ref: ref } = value as Record<string, unknown>
  if (Array.isArray(join)) return (join[1] as unknown[]).map(resolved).join(join[0] as string)
  return Array.isArray(attribute) ? attribute.join('.') : String(ref)
}

it('outbox and consumers say what they are made of, so that the command finds the whole system', () => {
  const template = Template.fromStack(new SampleStack(new App(), 'Shop'))
  const parameters = Object.values<Resource>(resourcesOf(template, 'AWS::SSM::Parameter')).map(({ Properties }) => ({
    name: resolved(Properties['Name']),
    value: resolved(Properties['Value']),
  }))
  expect(parameters.map(({ name }) => name).sort()).toEqual([
    '/dynamodb-outbox/Shop/Outbox',
    '/dynamodb-outbox/Shop/Outbox/Orders',
    '/dynamodb-outbox/Shop/Shipping',
  ])
  const [system, ...others] = readSystems(parameters)
  expect(others).toEqual([])
  expect(system).toMatchObject({ name: 'Shop/Outbox', outboxTable: expect.stringMatching(/^OutboxTable/) })
  expect(system?.consumers.map(({ name }) => name).sort()).toEqual(['shipping', 'shop'])
  for (const { queueUrl, deadLetterQueueUrl, ledgerTable, handler } of system?.consumers ?? [])
    expect(new Set([queueUrl, deadLetterQueueUrl, ledgerTable, handler]).size).toBe(4)
})
