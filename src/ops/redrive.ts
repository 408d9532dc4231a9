import { type ActOptions, type ActSummary, actOnDeadLetters } from './act-on-dead-letters.ts'
import { checkAct } from './check-act.ts'
import { redriveDeadRow } from './dynamo-row-changes.ts'
import { recordOnMessages } from './record-on-messages.ts'
import { createMover } from './redrive-messages.ts'
import type { OutboxSystem } from './system.ts'

/**
 * Sends the selected dead letters again. Each act is recorded before it is done. Dying anywhere loses nothing: a message
 * leaves the dead-letter queue only once its queue has accepted it, and one that is in both is handled once; run it again
 * for the rest. Two at once move each thing once.
 *
 * A redriven message names its handlers and is a later life of those alone. A redriven row keeps its life, so that handlers
 * that are done stay done. What comes back dead meanwhile is left. Throws `INVALID_SETTING`, and errors of the AWS SDK as
 * they are; what was moved by then stays moved.
 */
export async function redrive(system: OutboxSystem, options: ActOptions): Promise<ActSummary> {
  const { checked, entry } = checkAct('redrive', system, options)
  const move = createMover()
  return actOnDeadLetters(checked, options, {
    onMessages: async (queue, messages) => {
      await recordOnMessages(checked, queue, { messages, act: entry })
      return move(queue, messages)
    },
    onRow: (row) => redriveDeadRow(checked, row, entry),
  })
}
