/** Operating an outbox, as a library that prints nothing: `dynamodb-outbox/ops`. */
export type { DeadLetter } from './dead-letter.ts'
export { type OutboxTable, type RedriveRowResult, redriveRow } from './dynamo-dead-rows.ts'
export { type DeadLetterQueue, type RedriveReport, redriveMessage, redriveMessages } from './sqs-dead-letters.ts'
