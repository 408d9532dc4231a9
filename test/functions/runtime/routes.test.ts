import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { connectRoutes } from '../../../functions/runtime/routes.ts'
import { createRelay } from '../../../src/relay/relay.ts'
import type { Target } from '../../../src/settings.ts'

beforeEach(() => vi.stubEnv('AWS_REGION', 'eu-west-1'))
afterEach(() => vi.unstubAllEnvs())

const queue: Target = { kind: 'sqs', name: 'orders', url: 'https://sqs.eu-west-1.amazonaws.com/1/orders.fifo' }
const bus: Target = { kind: 'event-bus', name: 'audit', bus: 'shop' }

it('makes one publisher of a destination that several routes name, under its permanent name', () => {
  const [first, second] = connectRoutes([
    { source: 'shop', to: [queue, bus] },
    { type: ['a', 'b'], to: [queue] },
  ])
  expect(first).toMatchObject({ source: 'shop', to: [{ name: 'orders' }, { name: 'audit', maxBytes: 1_048_575 }] })
  expect(second).toMatchObject({ type: ['a', 'b'] })
  const [[ours], [theirs]] = [[first?.to].flat(), [second?.to].flat()]
  expect(theirs).toBe(ours)
})

it('two destinations of one name are refused when the relay is made', () => {
  const other: Target = { ...queue, url: 'https://sqs.eu-west-1.amazonaws.com/1/other.fifo' }
  const client = { send: async () => {}, config: { serviceId: 'DynamoDB' } } as never
  const routes = connectRoutes([{ to: [queue, other] }])
  expect(() => createRelay({ client, tableName: 'outbox', routes })).toThrow('is the name of another destination')
})
