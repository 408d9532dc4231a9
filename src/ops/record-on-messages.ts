import type { Message } from '@aws-sdk/client-sqs'
import { readDeadLetter } from './dead-letter.ts'
import { type LedgerTable, recordAct } from './dynamo-ledger-entries.ts'
import type { HistoryEntry } from './history.ts'
import { type CheckedSystem, ledgerOf } from './system.ts'

/**
 * Records an act in the ledger entry of each handler that a message concerns, before it is done. A message that SQS moved
 * itself has no entry to record it in, and one of a consumer that is not in the system is not recorded either.
 */
export async function recordOnMessages(
  system: CheckedSystem,
  messages: readonly Message[],
  act: HistoryEntry,
): Promise<void> {
  const entries = messages.flatMap((message) => {
    const { id, handlers } = readDeadLetter(message)
    return handlers.map((name) => ({ id, name, ledger: ledgerTable(system, name) }))
  })
  await Promise.all(
    entries.map(async ({ id, name, ledger }) => {
      if (ledger !== undefined) await recordAct(ledger, { id, name }, act)
    }),
  )
}

function ledgerTable(system: CheckedSystem, handler: string): LedgerTable | undefined {
  const tableName = ledgerOf(system, handler)
  return tableName === undefined ? undefined : { dynamo: system.dynamo, tableName }
}
