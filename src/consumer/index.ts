/** Handles events once, with retries and dead letters: `dynamodb-outbox/consumer`. */
export { type Backoff, DEFAULT_BACKOFF, DEFAULT_MAX_ATTEMPTS } from '../backoff.ts'
export { permanentError } from '../errors.ts'
export { createLedger, type LedgerOptions } from '../ledger/dynamo-ledger.ts'
export type { Ledger } from '../ledger/ledger.ts'
export { type Consumer, type ConsumerOptions, createConsumer } from './consumer.ts'
export type {
  ConsumerQueue,
  DeadLetterCopy,
  DeadLetterOutcome,
  VisibilityEntry,
  VisibilityOutcome,
} from './consumer-queue.ts'
export { type HandledType, type HandleFunction, type Handler, type HandlerOptions, on } from './handler.ts'
export type { Commit, HandlerContext } from './handler-context.ts'
export { type OnceOutcome, type ProcessOnceOptions, processOnce } from './process-once.ts'
export type { PullWorkerOptions } from './pull-worker-options.ts'
export { runPullWorker } from './run-pull-worker.ts'
export type { BatchResponse, LambdaContext, SqsAttribute, SqsEvent, SqsRecord } from './sqs-event.ts'
export { createSqsQueue, type SqsQueueOptions } from './sqs-queue.ts'
