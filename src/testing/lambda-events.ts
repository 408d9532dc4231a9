/**
 * The shapes in which Lambda hands records to a function. Our own structural types, so that the shipped declarations need
 * no other package; handlers typed with `@types/aws-lambda` accept them.
 */

/** A DynamoDB attribute value in a stream record: bytes are base64 text, numbers text. */
export type StreamAttribute =
  | { S: string }
  | { N: string }
  | { B: string }
  | { BOOL: boolean }
  | { NULL: true }
  | { SS: string[] }
  | { NS: string[] }
  | { BS: string[] }
  | { L: StreamAttribute[] }
  | { M: StreamImage }

export type StreamImage = { [name: string]: StreamAttribute }

export type StreamRecord = {
  eventID: string
  eventName: 'INSERT' | 'MODIFY' | 'REMOVE'
  eventVersion: string
  eventSource: 'aws:dynamodb'
  awsRegion: string
  eventSourceARN: string
  dynamodb: {
    /** Seconds since 1970, whole. */
    ApproximateCreationDateTime: number
    Keys: StreamImage
    NewImage?: StreamImage
    OldImage?: StreamImage
    /** 21–40 digits; compare as BigInt. */
    SequenceNumber: string
    SizeBytes: number
    StreamViewType: 'NEW_IMAGE' | 'OLD_IMAGE' | 'NEW_AND_OLD_IMAGES' | 'KEYS_ONLY'
  }
  /** Present on removals by TTL. */
  userIdentity?: { type: string; principalId: string }
}

export type StreamEvent = { Records: StreamRecord[] }

export type SqsMessageAttribute = {
  dataType: string
  stringValue?: string
  binaryValue?: string
  stringListValues: string[]
  binaryListValues: string[]
}

export type SqsRecord = {
  messageId: string
  receiptHandle: string
  body: string
  attributes: {
    ApproximateReceiveCount: string
    /** ms since 1970 */
    SentTimestamp: string
    SenderId: string
    /** ms since 1970 */
    ApproximateFirstReceiveTimestamp: string
    /** FIFO only, as are the two below. */
    MessageGroupId?: string
    MessageDeduplicationId?: string
    SequenceNumber?: string
    DeadLetterQueueSourceArn?: string
  }
  messageAttributes: Record<string, SqsMessageAttribute>
  md5OfBody: string
  eventSource: 'aws:sqs'
  eventSourceARN: string
  awsRegion: string
}

export type SqsEvent = { Records: SqsRecord[] }

/** What a handler may answer: nothing, or the items that failed. */
export type BatchResponse = { batchItemFailures: { itemIdentifier: string }[] }

/** The part of Lambda's context that the event sources provide. */
export type LambdaContext = {
  readonly functionName: string
  readonly awsRequestId: string
  /** Time left in the clock's milliseconds, 0 once it is over. */
  readonly getRemainingTimeInMillis: () => number
}

export type LambdaHandler<Event> = (event: Event, context: LambdaContext) => Promise<unknown> | unknown
