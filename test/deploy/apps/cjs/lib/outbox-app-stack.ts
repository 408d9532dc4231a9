import { Runtime } from 'aws-cdk-lib/aws-lambda'
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs'
import * as cdk from 'aws-cdk-lib/core'
import type { Construct } from 'constructs'
import { TransactionalOutbox } from 'dynamodb-outbox/cdk'

export class OutboxAppStack extends cdk.Stack {
  constructor(scope: Construct, id: string, props?: cdk.StackProps) {
    super(scope, id, props)
    const outbox = new TransactionalOutbox(this, 'Outbox', { removalPolicy: cdk.RemovalPolicy.DESTROY })
    const handler = new NodejsFunction(this, 'Handler', {
      entry: 'lambda/consumer.ts',
      runtime: Runtime.NODEJS_24_X,
      timeout: cdk.Duration.seconds(30),
      bundling: { bundleAwsSDK: true },
    })
    const orders = outbox.addConsumer('Orders', { handler, type: 'order.placed' })
    new cdk.CfnOutput(this, 'OutboxTable', { value: outbox.table.tableName })
    new cdk.CfnOutput(this, 'LedgerTable', { value: orders.ledgerTable.tableName })
  }
}
