/**
 * What Lambda hands to the consumer: the parts of its SQS event that are read. Structural, so that the shipped types need
 * no other package; handlers typed with `@types/aws-lambda` fit.
 */
export type SqsEvent = { readonly Records: readonly SqsRecord[] }

export type SqsRecord = {
  readonly messageId: string
  readonly receiptHandle: string
  readonly body: string
  readonly attributes: {
    readonly ApproximateReceiveCount: string
    readonly MessageGroupId?: string | undefined
  }
  readonly messageAttributes: Readonly<Record<string, SqsAttribute>>
  readonly eventSourceARN: string
}

export type SqsAttribute = {
  readonly dataType: string
  readonly stringValue?: string | undefined
  /** Base64. */
  readonly binaryValue?: string | undefined
}

/** The part of Lambda's context that is read. */
export type LambdaContext = { readonly getRemainingTimeInMillis: () => number }

/** Messages to keep in the queue, for a mapping with `ReportBatchItemFailures`. Lambda deletes all others. */
export type BatchResponse = { batchItemFailures: { itemIdentifier: string }[] }
