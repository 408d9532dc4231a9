import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { SQSClient } from '@aws-sdk/client-sqs'

/**
 * One call takes at most 2 s, and is tried once more: both fit in the 5 s that relay and sweeper give a call. Without
 * `throwOnRequestTimeout` the SDK only warns and goes on waiting.
 */
const CONFIG = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true },
}

/** Region, credentials and endpoint come from the function's environment. */
export const createDynamoClient = (): DynamoDBClient => new DynamoDBClient(CONFIG)
export const createSqsClient = (): SQSClient => new SQSClient(CONFIG)
export const createEventBridgeClient = (): EventBridgeClient => new EventBridgeClient(CONFIG)
