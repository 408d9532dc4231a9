import { errorName } from '../errors.ts'
import { deadShard, type RowKey } from '../outbox/row.ts'
import { failureReason } from '../settings.ts'
import type { PendingRow } from './row-image.ts'
import type { Run } from './run.ts'

/** The changes of a row other than the mark. All are conditional; one that does not land leaves the row to the sweeper. */

/**
 * Dead-letters a row, or one that cannot be understood (`redrives` unknown). True once it is no longer pending in this
 * round; false if the table did not answer. `accepted` took it in this run: a redrive leaves them out. Logged as an error: somebody has to look at it.
 */
export async function buryRow(
  run: Run,
  row: RowKey & { readonly shard: string; readonly redrives?: number; readonly id?: string },
  { cause, accepted = [] }: { readonly cause: string; readonly accepted?: readonly string[] },
): Promise<boolean> {
  const { pk, sk, shard, redrives, id } = row
  const guard = { pk, sk, shard, ...(redrives === undefined ? {} : { redrives }) }
  const reason = failureReason(cause)
  const burial = { shard: deadShard({ pk, sk }), reason, at: run.clock.now(), accepted }
  try {
    const landing = await run.ask((store, signal) => store.deadLetter(guard, burial, signal))
    if (landing === 'landed') {
      run.telemetry.count('deadRows')
      run.logger.error('row dead-lettered', { id, reason })
    }
    return true
  } catch (error) {
    failed(run, 'row could not be dead-lettered', error)
    return false
  }
}

/** Notes which destinations took a row that stays pending, so that they get it once. */
export async function noteAccepted(run: Run, row: PendingRow, destinations: readonly string[]): Promise<void> {
  if (destinations.length === 0) return
  try {
    await run.ask((store, signal) => store.addAccepted(row, destinations, signal))
  } catch (error) {
    failed(run, 'acceptance could not be noted', error)
  }
}

function failed(run: Run, message: string, error: unknown): void {
  run.telemetry.count('markFailed')
  run.logger.warn(message, { reason: errorName(error) })
}
