import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import type { Event } from '../../src/event/event.ts'
import { eventId } from '../../src/event/identity.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { createEventBridgePublisher } from '../../src/relay/event-bridge-publisher.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import type { LocalAws } from '../../src/testing/local-aws-options.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { proves } from '../cases.ts'
import { createFakeEventBridge } from '../support/fake-event-bridge.ts'
import { silent } from '../support/pipeline.ts'

let aws: LocalAws
beforeAll(async () => {
  aws = await startLocalAws({ speed: 40, onFunctionError: () => {} })
})
afterAll(() => aws.stop())

it(
  'an event reaches a consumer behind the bus and a standard queue, and is handled once though the bus brings it twice',
  proves('event-bridge-wrapped'),
  async () => {
    const bridge = createFakeEventBridge()
    const orders = await aws.createQueue('orders', { deadLetter: true })
    const audit = await aws.createQueue('audit', { fifo: false, deadLetter: true })
    const rule = { QueueUrl: audit.url }
    bridge.target = async (envelope) => {
      const command = new SendMessageCommand({ ...rule, MessageBody: JSON.stringify(envelope) })
      await Promise.all([aws.sqs.send(command), aws.sqs.send(command)])
    }
    const { sqs, clock } = aws
    const routes = [
      {
        to: [
          createSqsPublisher({ client: sqs, queueUrl: orders.url }),
          createEventBridgePublisher({ client: bridge.client, busName: 'shop', clock }),
        ],
      },
    ]
    await aws.startRelay({ routes, logger: silent })
    aws.startSweeper({ routes, logger: silent })
    const handled: string[] = []
    const consume = (queue: typeof orders, name: string) =>
      aws.startConsumer({
        queue,
        name,
        handlers: [on('order.placed', 'note', ({ id, data }: Event) => handled.push(`${name} ${id} ${data}`))],
      })
    consume(orders, 'shop')
    consume(audit, 'audit')

    // The bus is missing at first: the queue gets the event, the bus nothing, and the row waits.
    const event = { source: 'shop', type: 'order.placed', key: 'order/1', data: 'é 1' }
    await createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock }).transact({ events: [event] })
    const id = eventId(event)
    await waitFor(() => handled.includes(`shop ${id} é 1`))
    await waitFor(() => bridge.requests.length > 0)
    expect(bridge.requests.map(({ action }) => action)).not.toContain('PutEvents')
    bridge.buses.add('shop')

    await waitFor(() => handled.includes(`audit ${id} é 1`), { timeoutMs: 15_000 })
    await aws.idle()
    expect(handled.toSorted()).toEqual([`audit ${id} é 1`, `shop ${id} é 1`])
    expect(bridge.delivered).toMatchObject([{ source: 'shop', 'detail-type': 'order.placed', detail: { id } }])
  },
)
