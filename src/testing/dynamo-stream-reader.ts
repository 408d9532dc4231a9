import { OutboxError } from '../errors.ts'
import type { StreamImage, StreamRecord } from './lambda-events.ts'
import { LOCAL_REGION } from './records.ts'

/** A record as the Streams API gives it. */
export type RawStreamRecord = {
  readonly eventID: string
  readonly eventName: StreamRecord['eventName']
  readonly userIdentity?: { readonly Type: string; readonly PrincipalId: string }
  readonly dynamodb: {
    readonly ApproximateCreationDateTime?: number
    readonly Keys: StreamImage
    readonly NewImage?: StreamImage
    readonly OldImage?: StreamImage
    readonly SequenceNumber: string
    readonly SizeBytes?: number
    readonly StreamViewType?: StreamRecord['dynamodb']['StreamViewType']
  }
}

export type StreamReader = {
  /** What is new since the last call, up to 1,000 records a shard, in the order of the stream. Rejects without losing any. */
  readonly read: () => Promise<RawStreamRecord[]>
}

export type StreamReaderOptions = {
  readonly endpoint: string
  readonly streamArn: string
  readonly startingPosition: 'TRIM_HORIZON' | 'LATEST'
}

type Description = { StreamDescription: { Shards?: { ShardId: string }[] } }

/**
 * Reads a DynamoDB stream through its HTTP API. When a shard has closed, new ones are looked for and read from their
 * beginning.
 */
export async function openStream({
  endpoint,
  streamArn,
  startingPosition,
}: StreamReaderOptions): Promise<StreamReader> {
  const iterators = new Map<string, string | undefined>()

  const findShards = async (position: string): Promise<void> => {
    const { StreamDescription } = await call<Description>(endpoint, 'DescribeStream', { StreamArn: streamArn })
    for (const { ShardId } of StreamDescription.Shards ?? []) {
      if (iterators.has(ShardId)) continue
      const request = { StreamArn: streamArn, ShardId, ShardIteratorType: position }
      const { ShardIterator } = await call<{ ShardIterator?: string }>(endpoint, 'GetShardIterator', request)
      iterators.set(ShardId, ShardIterator)
    }
  }
  await findShards(startingPosition)

  const readShard = async (shardId: string, iterator: string): Promise<RawStreamRecord[]> => {
    type Page = { Records?: RawStreamRecord[]; NextShardIterator?: string }
    const page = await call<Page>(endpoint, 'GetRecords', { ShardIterator: iterator, Limit: 1000 })
    iterators.set(shardId, page.NextShardIterator)
    return page.Records ?? []
  }

  return {
    read: async () => {
      const open = [...iterators].filter((entry): entry is [string, string] => entry[1] !== undefined)
      // What one shard gave must not be lost because another could not be read: that one is read again next time.
      const pages = await Promise.allSettled(open.map(([shardId, iterator]) => readShard(shardId, iterator)))
      const records = pages.flatMap((page) => (page.status === 'fulfilled' ? page.value : []))
      const failed = pages.find((page) => page.status === 'rejected')
      if (failed !== undefined && records.length === 0) throw failed.reason
      const closed = open.some(([shardId]) => iterators.get(shardId) === undefined)
      if (records.length === 0 && (closed || open.length === 0)) await findShards('TRIM_HORIZON')
      return records
    },
  }
}

async function call<Answer>(endpoint: string, action: string, body: object): Promise<Answer> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDBStreams_20120810.${action}`,
      'x-amz-date': '20260101T000000Z',
      authorization: `AWS4-HMAC-SHA256 Credential=local/20260101/${LOCAL_REGION}/dynamodb/aws4_request, SignedHeaders=host, Signature=local`,
    },
    body: JSON.stringify(body),
  })
  const answer: unknown = await response.json()
  if (response.ok) return answer as Answer
  const { __type = 'Error', message = '' } = answer as { __type?: string; message?: string }
  throw new OutboxError('UNAVAILABLE', `The stream could not be read: ${action} answered ${__type} (${message}).`, {
    details: { reason: __type },
  })
}
