import { expect, it } from 'vitest'
import { createPlaceOrder } from '../../../functions/sample/place-order.ts'
import { createShopConsumer } from '../../../functions/sample/shop-consumer.ts'
import { createSqsQueue } from '../../../src/consumer/sqs-queue.ts'
import { createLedger } from '../../../src/ledger/dynamo-ledger.ts'
import { createOutbox } from '../../../src/outbox/create-outbox.ts'
import { createSqsPublisher } from '../../../src/relay/sqs-publisher.ts'
import { startLocalAws } from '../../../src/testing/local-aws.ts'
import { waitFor } from '../../../src/testing/wait.ts'
import { createSampleShop } from '../../support/sample-shop.ts'

it('the sample shop reserves stock in the order of the orders, and confirms each', async () => {
  await using aws = await startLocalAws({ speed: 10 })
  const queue = await aws.createQueue('orders', { deadLetter: true })
  const { documentClient, shopTable, stockUp, scan } = await createSampleShop(aws.dynamo, 'shop')
  const { clock } = aws
  const outbox = createOutbox({ documentClient, tableName: aws.outboxTable, clock })
  const mails: string[] = []
  await aws.startRelay({
    routes: [
      {
        type: ['order.placed', 'order.confirmation-requested'],
        to: createSqsPublisher({ client: aws.sqs, queueUrl: queue.url }),
      },
    ],
  })
  aws.startConsumer({
    queue,
    consumer: createShopConsumer({
      shopTable,
      mailer: { send: async ({ orderId }) => void mails.push(orderId) },
      now: clock.now,
      clock,
      outbox,
      ledger: createLedger({ documentClient, tableName: aws.ledgerTable, clock }),
      queue: createSqsQueue({ client: aws.sqs, queueUrl: queue.url, deadLetterQueueUrl: queue.deadLetterUrl ?? '' }),
    }),
  })
  const placeOrder = createPlaceOrder({ outbox, shopTable })
  await stockUp('tea', 3)
  for (const orderId of ['a', 'b', 'c']) await placeOrder({ orderId, customerId: 'ann', sku: 'tea', quantity: 2 })
  const outcomes = await waitFor(async () => {
    const items = (await scan(shopTable)).filter(({ pk }) => String(pk).startsWith('RESERVATION#'))
    return items.length === 3 && items.toSorted((one, other) => Number(one['sequence']) - Number(other['sequence']))
  })
  expect(outcomes.map(({ orderId, outcome }) => `${orderId} ${outcome}`)).toEqual([
    'a reserved',
    'b rejected',
    'c rejected',
  ])
  await waitFor(() => mails.length === 3)
  expect(mails.toSorted()).toEqual(['a', 'b', 'c'])
})
