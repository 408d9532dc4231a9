export { connectLocalAws, type LocalAwsAddress, type LocalAwsConnection } from './connection.ts'
export type { FilterPattern, FilterRule } from './event-filter.ts'
export { createFakeSqs, type FakeSqs, type FakeSqsOptions } from './fake-sqs.ts'
export type { FunctionCounts, FunctionOptions, InvokeOutcome, LocalFunction } from './function.ts'
export type {
  BatchResponse,
  LambdaContext,
  LambdaHandler,
  SqsEvent,
  SqsMessageAttribute,
  SqsRecord,
  StreamAttribute,
  StreamEvent,
  StreamImage,
  StreamRecord,
} from './lambda-events.ts'
export {
  type FunctionCode,
  type LocalAws,
  type LocalAwsOptions,
  type LocalQueueInfo,
  type LocalQueueOptions,
  type QueueConnection,
  type ScheduleConnection,
  type StreamConnection,
  startLocalAws,
} from './local-aws.ts'
export type { LocalQueue } from './local-queue.ts'
export { createManualClock, type ManualClock } from './manual-clock.ts'
export { type ProcessFunction, type ProcessFunctionOptions, processFunction } from './process-function.ts'
export type { QueueSettings, QueueSource } from './queue-source.ts'
export type { QueueDepth } from './queue-state.ts'
export { type SqsRecordOptions, type StreamRecordOptions, sqsRecord, streamRecord } from './records.ts'
export { scaledClock, type TimeScale } from './scaled-clock.ts'
export type { Schedule, ScheduledEvent } from './schedule.ts'
export type { Source } from './source.ts'
export type { SqsFault, WireEntry } from './sqs-rules.ts'
export type { DiscardedRecords, StreamSettings } from './stream-settings.ts'
export type { StreamSource } from './stream-source.ts'
export { type WaitOptions, waitFor } from './wait.ts'
