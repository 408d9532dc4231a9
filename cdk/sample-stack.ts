import { CfnOutput, type Duration, RemovalPolicy, Stack, type StackProps } from 'aws-cdk-lib'
import { AttributeType, Billing, TableV2 } from 'aws-cdk-lib/aws-dynamodb'
import { EventBus, type IEventBus, Rule } from 'aws-cdk-lib/aws-events'
import { SqsQueue } from 'aws-cdk-lib/aws-events-targets'
import type { Construct } from 'constructs'
import { given } from './given.ts'
import type { OutboxAlarmOptions } from './outbox-alarms.ts'
import { OutboxConsumer } from './outbox-consumer.ts'
import { createSampleFunction } from './sample-function.ts'
import { TransactionalOutbox } from './transactional-outbox.ts'

export type SampleStackProps = StackProps & {
  readonly keepRelayed?: Duration
  readonly alarms?: OutboxAlarmOptions
}

/**
 * The sample shop: orders go through a FIFO queue to the shop's consumer, which reserves stock and emits what came of it
 * to an event bus; a rule there brings reserved stock to the consumer of another team, through a standard queue.
 */
export class SampleStack extends Stack {
  constructor(scope: Construct, id: string, props: SampleStackProps = {}) {
    super(scope, id, props)
    const { keepRelayed, alarms } = props
    // A sample may be thrown away. Leave this out where it is not: then everything that holds events stays.
    const removalPolicy = RemovalPolicy.DESTROY
    const shopTable = new TableV2(this, 'Shop', {
      partitionKey: { name: 'pk', type: AttributeType.STRING },
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      removalPolicy,
    })
    const bus = new EventBus(this, 'Bus', { description: 'What came of orders' }) as IEventBus
    const outbox = new TransactionalOutbox(this, 'Outbox', { removalPolicy, ...given({ keepRelayed, alarms }) })

    const SHOP_TABLE = shopTable.tableName
    const placeOrder = createSampleFunction(this, 'PlaceOrder', {
      file: 'place-order-function.ts',
      description: 'Writes an order and its events in one transaction',
      environment: { SHOP_TABLE, OUTBOX_TABLE: outbox.table.tableName },
    })
    outbox.grantEnqueue(placeOrder)
    shopTable.grant(placeOrder, 'dynamodb:PutItem')

    const shop = createSampleFunction(this, 'ShopHandlers', {
      file: 'shop-function.ts',
      description: 'Reserves stock and sends confirmations',
      environment: { SHOP_TABLE },
    })
    shopTable.grant(shop, 'dynamodb:GetItem', 'dynamodb:PutItem', 'dynamodb:UpdateItem')
    const orders = outbox.addConsumer('Orders', {
      handler: shop,
      source: 'shop',
      type: ['order.placed', 'order.confirmation-requested'],
      emitsEvents: true,
      consumerName: 'shop',
    })

    outbox.addRoute({ source: 'shop', type: ['stock.reserved', 'stock.rejected'], to: { name: 'bus', eventBus: bus } })
    const shippingHandlers = createSampleFunction(this, 'ShippingHandlers', {
      file: 'shipping-function.ts',
      description: 'Prepares a parcel of what is reserved',
      environment: { SHOP_TABLE },
    })
    shopTable.grant(shippingHandlers, 'dynamodb:UpdateItem')
    const shipping = new OutboxConsumer(this, 'Shipping', {
      handler: shippingHandlers,
      fifo: false,
      consumerName: 'shipping',
      removalPolicy,
      ...given({ alarms }),
    })
    outbox.dashboard?.addConsumer(shipping)
    new Rule(this, 'ReservedStock', {
      description: 'Reserved stock goes to shipping',
      eventBus: bus,
      eventPattern: { source: ['shop'], detailType: ['stock.reserved'] },
      // What the rule cannot deliver goes where dead letters go: it has the form of the queue's own messages.
      targets: [new SqsQueue(shipping.queue, { deadLetterQueue: shipping.deadLetterQueue })],
    })

    this.output({
      PlaceOrder: placeOrder.functionName,
      ShopTable: SHOP_TABLE,
      OutboxTable: outbox.table.tableName,
      RelayMapping: outbox.mapping.eventSourceMappingId,
      Relay: outbox.relay.functionName,
      Sweeper: outbox.sweeper.functionName,
      OrdersQueue: orders.queue.queueUrl,
      OrdersDeadLetterQueue: orders.deadLetterQueue.queueUrl,
      OrdersLedger: orders.ledgerTable.tableName,
      ShippingQueue: shipping.queue.queueUrl,
      ShippingDeadLetterQueue: shipping.deadLetterQueue.queueUrl,
      ShippingLedger: shipping.ledgerTable.tableName,
      Bus: bus.eventBusName,
      Dashboard: outbox.dashboard?.dashboard.dashboardName ?? '',
    })
  }

  private output(values: Record<string, string>): void {
    for (const [name, value] of Object.entries(values)) new CfnOutput(this, `${name}Output`, { key: name, value })
  }
}
