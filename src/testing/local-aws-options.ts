import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { SQSClient } from '@aws-sdk/client-sqs'
import type { Clock } from '../clock.ts'
import type { Connections } from './connect-sources.ts'
import type { LocalAwsAddress } from './connection.ts'
import type { LocalQueue } from './local-queue.ts'
import type { LocalQueueInfo, LocalQueueOptions } from './local-queue-info.ts'
import type { Starters } from './start-parts.ts'
import type { WaitOptions } from './wait.ts'

export type LocalAwsOptions = {
  /**
   * How many times faster than real time its clock runs. Default 1. Timeouts shrink as well: the relay gives a call to
   * DynamoDB or SQS 5 s of this clock. Up to 30 leaves the engines time enough on a slow machine.
   */
  readonly speed?: number
  /** A DynamoDB that runs already. Default: `DYNAMODB_ENDPOINT`, else an embedded engine, which `''` asks for as well. */
  readonly dynamoEndpoint?: string
  /** Hears of every invocation that threw, with the function's name. Default: one line on standard error. */
  readonly onFunctionError?: (functionName: string, error: unknown) => void
}

export type LocalAws = AsyncDisposable &
  Connections &
  Starters & {
    readonly address: LocalAwsAddress
    readonly dynamo: DynamoDBClient
    readonly sqs: SQSClient
    readonly outboxTable: string
    readonly ledgerTable: string
    /** Its time: give it to whatever takes a clock. */
    readonly clock: Clock
    /** For a process of your own that joins with `connectLocalAws`. */
    readonly env: Readonly<Record<string, string>>
    readonly createQueue: (name: string, options?: LocalQueueOptions) => Promise<LocalQueueInfo>
    /** The queue behind a URL or name, to look at its depth. */
    readonly queue: (urlOrName: string) => LocalQueue
    /** While true, every SQS request is answered with 503, and queues hand nothing to event sources. */
    readonly setSqsOutage: (down: boolean) => void
    /**
     * Resolves once the streams have been read, connected queues are empty, no function runs and, with a relay of
     * `startRelay`, no row is pending. Throws after the timeout, saying what is left. A schedule's next run is not waited for.
     */
    readonly idle: (options?: WaitOptions) => Promise<void>
    readonly stop: () => Promise<void>
  }
