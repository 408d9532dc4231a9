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
export { createManualClock, type ManualClock } from './manual-clock.ts'
export { type SqsRecordOptions, type StreamRecordOptions, sqsRecord, streamRecord } from './records.ts'
