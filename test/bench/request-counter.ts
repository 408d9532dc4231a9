import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { SQSClient } from '@aws-sdk/client-sqs'

export type RequestCount = { readonly dynamo: number; readonly sqs: number; readonly all: number }

/** Counts what two clients send over the wire, retries included, while some work is done. */
export function countRequests(
  dynamo: DynamoDBClient,
  sqs: SQSClient,
): (work: () => Promise<unknown>) => Promise<RequestCount> {
  const counts = { dynamo: 0, sqs: 0 }
  const counting = (service: keyof typeof counts) => {
    const count =
      <Args, Output>(next: (args: Args) => Promise<Output>) =>
      (args: Args): Promise<Output> => {
        counts[service] += 1
        return next(args)
      }
    return count
  }
  // Low priority in the last step: behind the one that retries.
  dynamo.middlewareStack.add(counting('dynamo'), { step: 'finalizeRequest', priority: 'low', name: 'countRequests' })
  sqs.middlewareStack.add(counting('sqs'), { step: 'finalizeRequest', priority: 'low', name: 'countRequests' })
  return async (work) => {
    Object.assign(counts, { dynamo: 0, sqs: 0 })
    await work()
    return { ...counts, all: counts.dynamo + counts.sqs }
  }
}
