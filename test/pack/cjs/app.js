const { createOutbox } = require('dynamodb-outbox')
const { on } = require('dynamodb-outbox/consumer')
const { redriveRow } = require('dynamodb-outbox/ops')
const { createRelay } = require('dynamodb-outbox/relay')
const { startLocalAws } = require('dynamodb-outbox/testing')

async function main() {
  /** @type {unknown[]} */
  const handled = []
  const aws = await startLocalAws()
  const queue = await aws.createQueue('orders.fifo', { deadLetter: true })
  await aws.startRelay({ queue })
  const note = on('order.placed', 'note', async (event) => void handled.push(event.data))
  aws.startConsumer({ queue, name: 'app', handlers: [note] })
  const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: aws.clock })
  await outbox.transact({
    writes: [],
    events: [{ source: 'app', key: '1', type: 'order.placed', data: { orderId: 'o-1' } }],
  })
  await aws.idle()
  await aws.stop()
  console.log(`handled ${handled.length} event`, typeof createRelay, typeof redriveRow)
}

main()
