import type { Attribute, RowImage } from './row-image.ts'

/** A batch of a table's stream, as Lambda hands it over. Structural: `DynamoDBStreamEvent` of other packages fits. */
export type StreamEvent = { readonly Records: readonly StreamRecord[] }

export type StreamRecord = {
  readonly eventName?: string | undefined
  readonly dynamodb?:
    | {
        /** Seconds since 1970. */
        readonly ApproximateCreationDateTime?: number | undefined
        readonly Keys?: Readonly<Record<string, Attribute>> | undefined
        readonly NewImage?: RowImage | undefined
        readonly SequenceNumber?: string | undefined
      }
    | undefined
}

/** The part of Lambda's context that is used. */
export type InvocationContext = { readonly getRemainingTimeInMillis: () => number }

/** Needs `ReportBatchItemFailures` on the mapping. From the lowest number on, Lambda hands everything over again. */
export type StreamResponse = { batchItemFailures: { itemIdentifier: string }[] }
