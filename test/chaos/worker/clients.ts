import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { LOCAL_REGION } from '../../../src/testing/records.ts'
import type { Assignment } from '../processes/messages.ts'

export type Clients = { readonly dynamo: DynamoDBClient; readonly sqs: SQSClient }

/**
 * As the functions are deployed, two tries; the time of one is of the machine's clock, so far more of the rig's. The
 * engines want a signature and do not check it, and making one is a tenth of all that a process does.
 */
const CONFIG = {
  region: LOCAL_REGION,
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  signer: { sign },
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true },
}

async function sign<Request extends { headers: Record<string, string> }>(request: Request): Promise<Request> {
  const scope = `local/20260101/${LOCAL_REGION}/service/aws4_request`
  request.headers['x-amz-date'] = '20260101T000000Z'
  request.headers['authorization'] = `AWS4-HMAC-SHA256 Credential=${scope}, SignedHeaders=host, Signature=local`
  return request
}

export function openClients({ endpoints }: Assignment): Clients {
  return {
    dynamo: new DynamoDBClient({ ...CONFIG, endpoint: endpoints.dynamo }),
    sqs: new SQSClient({ ...CONFIG, endpoint: endpoints.sqs }),
  }
}
