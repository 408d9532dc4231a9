import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'

export const REGION = 'us-east-1'
const credentials = { accessKeyId: 'bench', secretAccessKey: 'bench' }

/**
 * As the functions of this package make their clients (`functions/runtime/aws-clients.ts`), but for the time of a request:
 * on a machine that does other things too, the engine may need longer than 2 s to take a hundred requests at once.
 */
const OURS = {
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 10_000, throwOnRequestTimeout: true },
}

export type Clients = { readonly dynamo: DynamoDBClient; readonly sqs: SQSClient }

/** Clients of the SDK with the settings that each side's own documentation gives: the peers' have none. */
export function createClients(side: 'ours' | 'peer', endpoint: { dynamo: string; sqs: string }): Clients {
  const settings = side === 'ours' ? OURS : {}
  const common = { region: REGION, credentials, ...settings }
  return {
    dynamo: new DynamoDBClient({ ...common, endpoint: endpoint.dynamo }),
    sqs: new SQSClient({ ...common, endpoint: endpoint.sqs }),
  }
}
