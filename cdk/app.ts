import { App, Duration } from 'aws-cdk-lib'
import { given } from './given.ts'
import { SampleStack } from './sample-stack.ts'

/** The sample as an app: `npx cdk deploy`. `-c keepRelayedDays=14` changes a setting of the deployed one. */
const app = new App()
const days = app.node.tryGetContext('keepRelayedDays')
new SampleStack(app, 'OutboxSample', {
  description: 'Sample of dynamodb-outbox: a shop',
  ...given({ keepRelayed: days === undefined ? undefined : Duration.days(Number(days)) }),
})
