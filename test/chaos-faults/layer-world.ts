import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import type { Clock } from '../../src/clock.ts'
import { startLocalAws } from '../../src/testing/index.ts'
import { startFaultLayer } from '../chaos/faults/fault-layer.ts'

/**
 * Engines, the layer before them, and clients that try once: what they see is what the layer answered. The layer's clock is
 * the engines' own by default.
 */
export async function startLayerWorld(layerClock?: Clock) {
  const aws = await startLocalAws({ speed: 20 })
  const { dynamoEndpoint: dynamo, sqsEndpoint: sqs } = aws.address
  const layer = await startFaultLayer({ dynamo, sqs, seed: 7, clock: layerClock ?? aws.clock })
  const clientsOf = (process: string) => {
    const endpoints = layer.endpointsFor(process)
    const config = {
      region: 'eu-west-1',
      credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
      maxAttempts: 1,
    }
    return {
      dynamo: new DynamoDBClient({ ...config, endpoint: endpoints.dynamo }),
      sqs: new SQSClient({ ...config, endpoint: endpoints.sqs }),
    }
  }
  return {
    aws,
    layer,
    clientsOf,
    stop: async () => {
      await layer.stop()
      await aws.stop()
    },
  }
}

export type LayerWorld = Awaited<ReturnType<typeof startLayerWorld>>
