import { createOutbox, defineEvent, type StandardSchema } from 'dynamodb-outbox'
import { on } from 'dynamodb-outbox/consumer'
import { redriveRow } from 'dynamodb-outbox/ops'
import { createRelay } from 'dynamodb-outbox/relay'
import { startLocalAws } from 'dynamodb-outbox/testing'

declare const order: StandardSchema<{ orderId: string }>
const schema: typeof order = {
  '~standard': { version: 1, vendor: 'app', validate: (value) => ({ value: value as { orderId: string } }) },
}
const OrderPlaced = defineEvent({ type: 'order.placed', schema })
const handled: string[] = []

const aws = await startLocalAws()
const queue = await aws.createQueue('orders.fifo', { deadLetter: true })
await aws.startRelay({ queue })
aws.startConsumer({
  queue,
  name: 'app',
  handlers: [on(OrderPlaced, 'note', async (event) => void handled.push(event.data.orderId))],
})
const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: aws.clock })
await outbox.transact({
  writes: [],
  events: [OrderPlaced.create({ source: 'app', key: '1', data: { orderId: 'o-1' } })],
})
await aws.idle()
await aws.stop()
console.log(`handled ${handled.length} event`, typeof createRelay, typeof redriveRow)
