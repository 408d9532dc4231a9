import assert from 'node:assert/strict'
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda'
import { VARIABLES } from '../../../src/settings.ts'
import { eventually } from '../eventually.ts'
import type { Sample } from '../sample.ts'
import { placeOrder, readAll } from '../shop.ts'
import { resourcesOf, type StackResource } from '../stack-resources.ts'
import type { Step } from '../step.ts'
import type { World } from '../world.ts'
import { mailKey } from './handled.ts'

export const bootstrapped = (sample: Sample): Step => ({
  title: 'cdk bootstrap, as README says',
  run: async () => {
    await sample.bootstrap()
    return undefined
  },
})

export const deployed = (sample: Sample): Step => ({
  title: 'cdk deploy of the sample, as README says',
  differs: {
    how: 'it sets neither time to live, point-in-time recovery nor encryption of tables, nor metrics of mappings',
    tests: ['test/cdk/transactional-outbox.test.ts', 'test/cdk/outbox-consumer.test.ts'],
  },
  run: async () => {
    await sample.deploy()
    return `${(await resourcesOf(sample.stack)).length} resources`
  },
})

const CHANGED_DAYS = 14
const AFTER = { orderId: 'order-after-update', customerId: 'customer-7', sku: 'tea', quantity: 1 }

export const updated = (sample: Sample): Step => ({
  title: 'deployed again with a changed setting: in place, nothing replaced',
  differs: { how: 'it may replace less than CloudFormation', tests: ['test/cdk/replacement.test.ts'] },
  run: async (world) => {
    const before = await resourcesOf(sample.stack)
    const tables = await describeTables(world, before)
    await sample.deployChanged(`keepRelayedDays=${CHANGED_DAYS}`)
    const { relayFunction, placeOrderFunction, shopTable } = sample.outputs()
    const command = new GetFunctionConfigurationCommand({ FunctionName: relayFunction })
    const { Environment } = await world.lambda.send(command)
    assert.equal(Environment?.Variables?.[VARIABLES.keepRelayedSeconds], String(CHANGED_DAYS * 86_400))
    assert.deepEqual(sorted(await resourcesOf(sample.stack)), sorted(before))
    assert.deepEqual(await describeTables(world, before), tables)
    assert.equal(await placeOrder(world, placeOrderFunction, AFTER), true)
    await eventually('the mail of an order after it', async () =>
      (await readAll(world, shopTable)).some(({ pk }) => pk === mailKey(AFTER.orderId)),
    )
    return `${tables.length} tables and their streams are the same`
  },
})

export const destroyed = (sample: Sample): Step => ({
  title: 'cdk destroy, as README says',
  run: async (world) => {
    const before = await resourcesOf(sample.stack)
    await sample.destroy()
    await assert.rejects(resourcesOf(sample.stack).then(failIfAny))
    await assert.rejects(describeTables(world, before), { name: 'ResourceNotFoundException' })
    return undefined
  },
})

/** A deleted stack is not found by its name; some engines list nothing instead. */
function failIfAny(resources: readonly StackResource[]): void {
  if (resources.length === 0) throw new Error('nothing is left')
}

function sorted(resources: readonly StackResource[]): string[] {
  return resources.map(({ logicalId, id }) => `${logicalId} ${id}`).toSorted()
}

/** What would be another after a replacement. */
async function describeTables({ dynamo }: World, resources: readonly StackResource[]): Promise<object[]> {
  const tables = resources.filter(({ type }) => type.startsWith('AWS::DynamoDB::'))
  return Promise.all(
    tables.map(async ({ id }) => {
      const { Table } = await dynamo.send(new DescribeTableCommand({ TableName: id }))
      return { id: Table?.TableId, stream: Table?.LatestStreamArn, keys: Table?.KeySchema }
    }),
  )
}
