/** Operating an outbox, as a library that prints nothing: `dynamodb-outbox/ops`. */

export type { SystemEntry } from '../system-parameter.ts'
export type { ActOptions, ActOutcome, ActSummary } from './act-on-dead-letters.ts'
export { checkDeployment } from './check-deployment.ts'
export type { DeadLetter } from './dead-letter.ts'
export { type DeadLetters, listDeadLetters, type Watch } from './dead-letters.ts'
export type {
  AlarmFacts,
  ConsumerFacts,
  Deployment,
  Finding,
  Fix,
  FunctionFacts,
  MappingChange,
  MappingFacts,
  QueueFacts,
  TableFacts,
} from './deployment.ts'
export { discard } from './discard.ts'
export type { LedgerEntry } from './dynamo-ledger-entries.ts'
export type { EventRef } from './find-row.ts'
export { type ForgetOptions, type ForgetReport, forget } from './forget.ts'
export { type DeadGroup, type DeadItem, failureKind } from './group-dead-letters.ts'
export type { HistoryEntry, OperatorAction } from './history.ts'
export { type ListOptions, listRows, type RowList } from './list-rows.ts'
export { redrive } from './redrive.ts'
export { type RedriveReport, redriveMessage, redriveMessages } from './redrive-messages.ts'
export { type OutboxTable, type RedriveRowResult, redriveRow } from './redrive-row.ts'
export { type ReplayOptions, type ReplaySummary, replay } from './replay.ts'
export { resolveIds } from './resolve-id.ts'
export type { RowSummary } from './row-summary.ts'
export type { ScanConsent, ScanEstimate } from './scan.ts'
export type { Selection } from './selection.ts'
export { type EventView, type ShowOptions, showEvent } from './show-event.ts'
export type { DeadLetterQueue } from './sqs-dead-letter-queue.ts'
export type { QueueDepth } from './sqs-queue-depth.ts'
export { type OutboxStatus, type RowCount, readStatus } from './status.ts'
export type { ConsumerResources, OutboxSystem } from './system.ts'
