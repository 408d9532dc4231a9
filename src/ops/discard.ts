import { invalidSetting } from '../settings.ts'
import { type ActOptions, type ActSummary, actOnDeadLetters } from './act-on-dead-letters.ts'
import { checkAct } from './check-act.ts'
import { discardDeadRow } from './dynamo-row-changes.ts'
import { recordOnMessages } from './record-on-messages.ts'
import { remove } from './sqs-dead-letter-queue.ts'
import type { OutboxSystem } from './system.ts'

/**
 * Gives the selected dead letters up: a row counts as relayed without being sent and expires like one; a message is deleted
 * from its dead-letter queue, once the act and its reason stand in the ledger. Why it was dead stays on record. It takes a reason. Dying
 * anywhere, or running twice, does no harm. Throws `INVALID_SETTING`, and errors of the AWS SDK as they are.
 */
export async function discard(system: OutboxSystem, options: ActOptions): Promise<ActSummary> {
  const { checked, entry } = checkAct('discard', system, options)
  if (options.reason === undefined) throw invalidSetting('reason', 'must say why this is given up')
  return actOnDeadLetters(checked, options, {
    onMessages: async (queue, messages) => {
      await recordOnMessages(checked, queue, { messages, act: entry })
      return remove(queue, messages)
    },
    onRow: (row) => discardDeadRow(checked, row, entry),
  })
}
