export type {
  Connections,
  FunctionCode,
  QueueConnection,
  ScheduleConnection,
  StreamConnection,
} from './connect-sources.ts'
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
export { startLocalAws } from './local-aws.ts'
export type { LocalAws, LocalAwsOptions } from './local-aws-options.ts'
export type { LocalQueue } from './local-queue.ts'
export type { LocalQueueInfo, LocalQueueOptions } from './local-queue-info.ts'
export { createManualClock, type ManualClock } from './manual-clock.ts'
export { type ProcessFunction, type ProcessFunctionOptions, processFunction } from './process-function.ts'
export type { QueueSettings, QueueSource } from './queue-source.ts'
export type { QueueDepth } from './queue-state.ts'
export { type SqsRecordOptions, type StreamRecordOptions, sqsRecord, streamRecord } from './records.ts'
export { scaledClock, type TimeScale } from './scaled-clock.ts'
export type { Schedule, ScheduledEvent } from './schedule.ts'
export type { Source } from './source.ts'
export type { SqsFault, WireEntry } from './sqs-rules.ts'
export { type ConsumerStart, RELAY_FILTER, type RelayStart, type Starters, type SweeperStart } from './start-parts.ts'
export type { DiscardedRecords, StreamSettings } from './stream-settings.ts'
export type { StreamSource } from './stream-source.ts'
export { type WaitOptions, waitFor } from './wait.ts'
