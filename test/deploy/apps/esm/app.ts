import { App, CfnOutput, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { Runtime } from 'aws-cdk-lib/aws-lambda'
import { NodejsFunction, OutputFormat } from 'aws-cdk-lib/aws-lambda-nodejs'
import { TransactionalOutbox } from 'dynamodb-outbox/cdk'

const stack = new Stack(new App(), 'OutboxEsmAppStack')
const outbox = new TransactionalOutbox(stack, 'Outbox', { removalPolicy: RemovalPolicy.DESTROY })
const handler = new NodejsFunction(stack, 'Handler', {
  entry: 'lambda/consumer.ts',
  runtime: Runtime.NODEJS_24_X,
  timeout: Duration.seconds(30),
  bundling: {
    bundleAwsSDK: true,
    format: OutputFormat.ESM,
    banner: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);",
  },
})
const orders = outbox.addConsumer('Orders', { handler, type: 'order.placed' })
new CfnOutput(stack, 'OutboxTable', { value: outbox.table.tableName })
new CfnOutput(stack, 'LedgerTable', { value: orders.ledgerTable.tableName })
