import type { Message } from '@aws-sdk/client-sqs'
import { readDeadLetter } from './dead-letter.ts'
import { recordAct } from './dynamo-ledger-entries.ts'
import type { HistoryEntry } from './history.ts'
import type { DeadLetterQueue } from './sqs-dead-letter-queue.ts'
import { type CheckedSystem, ledgersBehind } from './system.ts'

/**
 * Records an act in the ledger entry of each handler that a message concerns, before it is done. A message that SQS moved
 * itself names no handler, and has no entry to record it in.
 */
export async function recordOnMessages(
  system: CheckedSystem,
  { deadLetterQueueUrl }: DeadLetterQueue,
  { messages, act }: { readonly messages: readonly Message[]; readonly act: HistoryEntry },
): Promise<void> {
  const { dynamo } = system
  const keys = messages.flatMap((message) => {
    const { id, handlers } = readDeadLetter(message)
    return handlers.map((name) => ({ id, name }))
  })
  const tables = ledgersBehind(system, deadLetterQueueUrl)
  await Promise.all(tables.flatMap((tableName) => keys.map((key) => recordAct({ dynamo, tableName }, key, act))))
}
