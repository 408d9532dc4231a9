import type { Message } from '@aws-sdk/client-sqs'
import { eachAtOnce } from '../pool.ts'
import { eachDeadRow, messageItems, rowItem, type Watch } from './dead-letters.ts'
import type { RowChange } from './dynamo-row-changes.ts'
import type { DeadItem } from './group-dead-letters.ts'
import { createReturns } from './returns.ts'
import type { RowSummary } from './row-summary.ts'
import { isSelected, type Selection, selectsRowsOnly } from './selection.ts'
import type { DeadLetterQueue } from './sqs-dead-letter-queue.ts'
import { type CheckedSystem, deadLetterQueues } from './system.ts'
import { walkDeadLetters } from './walk-dead-letters.ts'

/**
 * `kept`: selected, but still where it was: its queue refused it, somebody changed it meanwhile, or an earlier one of its
 * group stayed. Safe to try again. `planned`: a dry run would have done it.
 */
export type ActOutcome = DeadItem & { readonly outcome: 'done' | 'kept' | 'planned' }

export type ActOptions = Watch & {
  readonly select: Selection
  /** Who does it: recorded with the row, and in the ledger entry of each handler. 1–64 printable ASCII characters. */
  readonly by: string
  /** Why: recorded too. 1–128 bytes. */
  readonly reason?: string
  /** Says what would be done and changes nothing. */
  readonly dryRun?: boolean
  /** Called for each one selected, as soon as its fate is known. */
  readonly onOutcome?: (outcome: ActOutcome) => void
}

/** Messages and rows. A message that concerns several handlers counts once. */
export type ActSummary = {
  readonly done: number
  readonly kept: number
  readonly planned: number
  /** Looked at, and not selected. */
  readonly left: number
  /** Not seen: messages behind ten of their group that were left. */
  readonly hidden: number
}

export type Act = {
  /** Gives the messages that are gone from the dead-letter queue. */
  readonly onMessages: (queue: DeadLetterQueue, messages: readonly Message[]) => Promise<readonly Message[]>
  readonly onRow: (row: RowSummary) => Promise<RowChange>
}

const GROUPS_AT_ONCE = 8

/** Does one thing to every dead letter selected: messages of the dead-letter queues first, then rows; each group from its head. */
export async function actOnDeadLetters(system: CheckedSystem, options: ActOptions, act: Act): Promise<ActSummary> {
  const tally = createTally(options)
  // To look at messages hides them from others.
  const queues = selectsRowsOnly(options.select) ? [] : deadLetterQueues(system)
  for (const queue of queues) {
    const returns = createReturns()
    const visit = async (fresh: readonly Message[]): Promise<readonly Message[]> => {
      const isChosen = (message: Message): boolean =>
        !returns.has(message) && itemsOf(queue, message).some((item) => isSelected(options.select, item))
      const chosen = fresh.filter(isChosen)
      tally.leave(fresh.length - chosen.length)
      chosen.forEach(returns.add)
      const gone = options.dryRun ? [] : await act.onMessages(queue, chosen)
      for (const message of chosen) tally.count(itemsOf(queue, message), gone.includes(message))
      return gone
    }
    tally.hide((await walkDeadLetters(queue, visit, options.signal)).hidden)
  }
  const doGroup = async (rows: readonly RowSummary[]): Promise<void> => {
    for (const row of rows) {
      if (options.signal?.aborted) return
      tally.count([rowItem(row)], !options.dryRun && (await act.onRow(row)) === 'written')
    }
  }
  const visitRows = async (rows: readonly RowSummary[]): Promise<void> => {
    const chosen = rows.filter((row) => isSelected(options.select, rowItem(row)))
    tally.leave(rows.length - chosen.length)
    await eachAtOnce(Map.groupBy(chosen, ({ pk }) => pk).values(), GROUPS_AT_ONCE, doGroup)
  }
  await eachDeadRow(system, visitRows, options.signal)
  return tally.summary()
}

function itemsOf({ deadLetterQueueUrl }: DeadLetterQueue, message: Message): readonly DeadItem[] {
  return messageItems(message, deadLetterQueueUrl)
}

function createTally({ select, dryRun, onOutcome, onProgress }: ActOptions) {
  const counts = { done: 0, kept: 0, planned: 0 }
  let left = 0
  let hidden = 0
  const seen = (): void => onProgress?.(counts.done + counts.kept + counts.planned + left)
  return {
    hide: (more: number): void => {
      hidden += more
    },
    leave: (more: number): void => {
      left += more
      seen()
    },
    count: (items: readonly DeadItem[], isDone: boolean): void => {
      const outcome = dryRun ? 'planned' : isDone ? 'done' : 'kept'
      counts[outcome] += 1
      for (const item of items) if (isSelected(select, item)) onOutcome?.({ ...item, outcome })
      seen()
    },
    summary: (): ActSummary => ({ ...counts, left, hidden }),
  }
}
