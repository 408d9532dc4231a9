/** Operating an outbox, as a library that prints nothing: `dynamodb-outbox/ops`. */
export type { DeadLetter } from './dead-letter.ts'
export { type OutboxTable, type RedriveRowResult, redriveRow } from './dynamo-redrive-row.ts'
export { type RedriveReport, redriveMessage, redriveMessages } from './redrive-messages.ts'
export type { DeadLetterQueue } from './sqs-dead-letter-queue.ts'
