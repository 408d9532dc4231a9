export type { Backoff } from './backoff.ts'
export { type Clock, systemClock } from './clock.ts'
export { type ErrorCode, type ErrorDetails, isOutboxError, OutboxError, permanentError } from './errors.ts'
export { type DecodedBody, decodeBody } from './event/codec.ts'
export { defineEvent, type EventDefinition, type Validation, validateData } from './event/define-event.ts'
export type { Event, NewEvent } from './event/event.ts'
export type { LifeNote } from './event/life.ts'
export type { StandardSchema } from './event/standard-schema.ts'
export type { DeliveryKind } from './outbox/build-row.ts'
export type {
  AttributeWrite,
  ClientChoice,
  ClientKind,
  ClientWrite,
  DocumentWrite,
  SendTransaction,
  TransactionInput,
} from './outbox/client-write.ts'
export type { Collector } from './outbox/collect.ts'
export type { CommitOutcome, CommitRequest, Committer, EnqueuedEvent, OnExisting } from './outbox/commit.ts'
export {
  createCommitter,
  createOutbox,
  type Outbox,
  type OutboxOptions,
  type TransactOptions,
  type TransactResult,
} from './outbox/create-outbox.ts'
export type { FailOutcome, Puller } from './outbox/create-puller.ts'
export { type CreateTablesOptions, createTables } from './outbox/dynamo-create-tables.ts'
export type { PullOptions } from './outbox/dynamo-pull.ts'
export type { OwnAction, OwnItem, OwnValue } from './outbox/own-action.ts'
export type { Hold } from './outbox/pull-changes.ts'
export type { PulledEvent } from './outbox/pull-claim.ts'
export { LEDGER_TABLE, OUTBOX_TABLE, type TableDefinition } from './tables.ts'
export { consoleLogger, type Logger, METRICS, type MetricKey, type Telemetry } from './telemetry.ts'
