import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { LOCAL_REGION } from '../../../src/testing/records.ts'
import type { Assignment } from '../processes/messages.ts'

export type Clients = { readonly dynamo: DynamoDBClient; readonly sqs: SQSClient }

/** As the functions are deployed, two tries; the time of one is of the machine's clock, so far more of the rig's. */
const CONFIG = {
  region: LOCAL_REGION,
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  // The engines look at no signature, and making one is a tenth of all that a process does.
  signer: { sign: async <Request>(request: Request): Promise<Request> => request },
  maxAttempts: 2,
  requestHandler: { connectionTimeout: 1000, requestTimeout: 2000, throwOnRequestTimeout: true },
}

export function openClients({ endpoints }: Assignment): Clients {
  return {
    dynamo: new DynamoDBClient({ ...CONFIG, endpoint: endpoints.dynamo }),
    sqs: new SQSClient({ ...CONFIG, endpoint: endpoints.sqs }),
  }
}
