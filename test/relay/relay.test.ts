import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Context, DynamoDBBatchResponse, DynamoDBStreamEvent, DynamoDBStreamHandler } from 'aws-lambda'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { createRelay, createSweeper, type RelayOptions } from '../../src/relay/index.ts'
import { createFakeQueue } from '../support/fake-queue.ts'

const options: RelayOptions = {
  client: new DynamoDBClient({ region: 'eu-west-1' }),
  tableName: 'outbox',
  routes: [{ to: createFakeQueue('q', { now: () => 0 }) }],
}

describe.each([
  ['createRelay', createRelay],
  ['createSweeper', createSweeper],
])('%s', (name, create) => {
  it('refuses wrong options at once, naming them', () => {
    expect(() => create({ ...options, table: 'x' } as never)).toThrow(`${name}: "table" is not an option`)
    expect(() => create({ ...options, routes: [] })).toThrow('routes')
    expect(() => create({ ...options, tableName: '' })).toThrow('tableName')
    expect(() => create({ ...options, keepRelayedSeconds: 86_399 })).toThrow('from 86400')
    expect(() => create({ ...options, region: '' })).toThrow('region')
    expect(() => create({ ...options, takeOverRegions: 'eu-west-1' as never })).toThrow('takeOverRegions')
  })

  it('asks for nothing before it is called', () => {
    expect(typeof create(options)).toBe('function')
  })
})

describe('createRelay', () => {
  it('has nothing to do for an empty batch', async () => {
    expect(await createRelay(options)({ Records: [] })).toEqual({ batchItemFailures: [] })
  })

  it('fits the types of a Lambda handler', () => {
    const relay = createRelay(options)
    expectTypeOf(relay).parameter(0).toExtend<{ Records: readonly unknown[] }>()
    const handler: DynamoDBStreamHandler = async (
      event: DynamoDBStreamEvent,
      context: Context,
    ): Promise<DynamoDBBatchResponse> => relay(event, context)
    expect(handler.length).toBe(2)
  })
})
