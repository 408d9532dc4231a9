import { createHash } from 'node:crypto'
import type { SqsMessageAttribute, SqsRecord, StreamImage, StreamRecord } from './lambda-events.ts'

export const LOCAL_REGION = 'us-east-1'
export const LOCAL_ACCOUNT = '000000000000'

export type StreamRecordOptions = {
  /** Default INSERT. */
  readonly eventName?: StreamRecord['eventName']
  /** Key attributes; default `pk` and `sk` of the image. */
  readonly keys?: StreamImage
  readonly newImage?: StreamImage
  readonly oldImage?: StreamImage
  /** Default 1; padded to 21 digits. */
  readonly sequence?: number | string
  /** ms since 1970; rounded down to seconds as DynamoDB does. Default 2023-11-14T22:13:20Z, a manual clock's start. */
  readonly createdAt?: number
  readonly region?: string
  readonly streamArn?: string
  /** A removal by TTL. */
  readonly ttl?: boolean
}

/** A DynamoDB stream record as Lambda delivers it. */
export function streamRecord(options: StreamRecordOptions = {}): StreamRecord {
  const {
    eventName = 'INSERT',
    newImage,
    oldImage,
    sequence = 1,
    createdAt = 1_700_000_000_000,
    region = LOCAL_REGION,
  } = options
  const {
    keys = keysOf(newImage ?? oldImage ?? {}),
    streamArn = tableStreamArn('outbox', region),
    ttl = false,
  } = options
  const number = String(sequence).padStart(21, '0')
  return {
    eventID: createHash('md5').update(`${streamArn}${number}`).digest('hex'),
    eventName,
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: region,
    eventSourceARN: streamArn,
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(createdAt / 1000),
      Keys: keys,
      ...(newImage === undefined ? {} : { NewImage: newImage }),
      ...(oldImage === undefined ? {} : { OldImage: oldImage }),
      SequenceNumber: number,
      SizeBytes: Buffer.byteLength(JSON.stringify({ keys, newImage, oldImage })),
      StreamViewType: 'NEW_IMAGE',
    },
    ...(ttl ? { userIdentity: { type: 'Service', principalId: 'dynamodb.amazonaws.com' } } : {}),
  }
}

export type SqsRecordOptions = {
  readonly body?: string
  readonly messageId?: string
  readonly receiptHandle?: string
  /** FIFO; leave out for a standard queue. */
  readonly groupId?: string
  readonly deduplicationId?: string
  readonly sequence?: number | string
  /** Text values, sent with data type String. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Default 1. */
  readonly receiveCount?: number
  /** ms since 1970 */
  readonly sentAt?: number
  readonly queueName?: string
  readonly region?: string
}

/** An SQS record as Lambda delivers it. The message id defaults to one made from group, sequence and body. */
export function sqsRecord(options: SqsRecordOptions = {}): SqsRecord {
  const {
    body = '',
    groupId,
    sequence = 1,
    receiveCount = 1,
    sentAt = 1_700_000_000_000,
    region = LOCAL_REGION,
  } = options
  const { queueName = groupId === undefined ? 'queue' : 'queue.fifo' } = options
  const messageId = options.messageId ?? uuidOf(`${groupId} ${sequence} ${body}`)
  return {
    messageId,
    receiptHandle: options.receiptHandle ?? `handle-${messageId}-${receiveCount}`,
    body,
    attributes: {
      ApproximateReceiveCount: String(receiveCount),
      SentTimestamp: String(sentAt),
      SenderId: LOCAL_ACCOUNT,
      ApproximateFirstReceiveTimestamp: String(sentAt),
      ...(groupId === undefined
        ? {}
        : {
            MessageGroupId: groupId,
            MessageDeduplicationId: options.deduplicationId ?? messageId,
            SequenceNumber: String(sequence).padStart(20, '0'),
          }),
    },
    messageAttributes: Object.fromEntries(
      Object.entries(options.attributes ?? {}).map(([name, value]) => [name, stringAttribute(value)]),
    ),
    md5OfBody: createHash('md5').update(body).digest('hex'),
    eventSource: 'aws:sqs',
    eventSourceARN: queueArn(queueName, region),
    awsRegion: region,
  }
}

export function stringAttribute(value: string): SqsMessageAttribute {
  return { dataType: 'String', stringValue: value, stringListValues: [], binaryListValues: [] }
}

export function queueArn(queueName: string, region = LOCAL_REGION): string {
  return `arn:aws:sqs:${region}:${LOCAL_ACCOUNT}:${queueName}`
}

export function tableStreamArn(tableName: string, region = LOCAL_REGION): string {
  return `arn:aws:dynamodb:${region}:${LOCAL_ACCOUNT}:table/${tableName}/stream/2026-01-01T00:00:00.000`
}

function keysOf(image: StreamImage): StreamImage {
  return Object.fromEntries(Object.entries(image).filter(([name]) => name === 'pk' || name === 'sk'))
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}
