import { CloudWatchClient } from '@aws-sdk/client-cloudwatch'
import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { EventBridgeClient } from '@aws-sdk/client-eventbridge'
import { LambdaClient } from '@aws-sdk/client-lambda'
import { SQSClient } from '@aws-sdk/client-sqs'
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb'
import type { Target } from './target.ts'

/** What the steps work with. */
export type World = {
  readonly target: Target
  /** Of the run; gone at its end. */
  readonly folder: string
  readonly dynamo: DynamoDBDocumentClient
  readonly sqs: SQSClient
  readonly lambda: LambdaClient
  readonly events: EventBridgeClient
  readonly cloudWatch: CloudWatchClient
}

export function openWorld(target: Target, folder: string): World {
  return {
    target,
    folder,
    dynamo: DynamoDBDocumentClient.from(new DynamoDBClient()),
    sqs: new SQSClient(),
    lambda: new LambdaClient(),
    events: new EventBridgeClient(),
    cloudWatch: new CloudWatchClient(),
  }
}
