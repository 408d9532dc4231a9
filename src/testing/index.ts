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
export { sqsRecord, type SqsRecordOptions, streamRecord, type StreamRecordOptions } from './records.ts'
