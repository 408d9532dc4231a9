export { type OutboxTable, type RedriveRowResult, redriveRow } from './dynamo-dead-rows.ts'
