import * as v from 'valibot'
import { expect, it } from 'vitest'
import { on } from '../../src/consumer/index.ts'
import { createOutbox, defineEvent } from '../../src/index.ts'
import { startLocalAws } from '../../src/testing/index.ts'

const OrderPlaced = defineEvent({ type: 'order.placed', schema: v.object({ orderId: v.string() }) })

it('tests handlers of your own, from the transaction to the effect, in ten lines', async () => {
  await using aws = await startLocalAws()
  const queue = await aws.createQueue('orders', { deadLetter: true })
  const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable })
  const shipped: string[] = []
  await aws.startRelay({ queue })
  aws.startConsumer({
    queue,
    name: 'shop',
    handlers: [on(OrderPlaced, 'ship', ({ data }) => shipped.push(data.orderId))],
  })
  await outbox.transact({ events: [OrderPlaced.create({ source: 'shop', key: 'order-1', data: { orderId: '1' } })] })
  await aws.idle()
  expect(shipped).toEqual(['1'])
})
