import type { Message } from '@aws-sdk/client-sqs'
import { OutboxError } from '../errors.ts'
import { checkOptions } from '../settings.ts'
import { readDeadLetter } from './dead-letter.ts'
import type { Watch } from './dead-letters.ts'
import { forgetEntry, readEntries } from './dynamo-ledger-entries.ts'
import { forgetRow } from './dynamo-row-changes.ts'
import { checkRef, type EventRef, findRow, idOf } from './find-row.ts'
import { type HistoryEntry, historyEntry } from './history.ts'
import type { ScanConsent } from './scan.ts'
import { remove } from './sqs-dead-letter-queue.ts'
import { type CheckedSystem, checkSystem, deadLetterQueues, ledgerTables, type OutboxSystem } from './system.ts'
import { walkDeadLetters } from './walk-dead-letters.ts'

export type ForgetOptions = Watch &
  ScanConsent & {
    readonly by: string
    readonly reason?: string
    /** Also an event that is still pending: it will not be delivered. */
    readonly undelivered?: boolean
  }

export type ForgetReport = {
  readonly row: 'forgotten' | 'not-found'
  /** Ledger entries whose texts were removed. */
  readonly entries: number
  /** Messages deleted from dead-letter queues. */
  readonly messages: number
}

const TRIES = 5

/**
 * Removes an event's data for good, for a privacy request: from its row, from the ledger and from the dead-letter queues. What
 * stays is that there was such an event: its source, type, key or group, times, and what handlers made of it, until the rows
 * expire; a key that is itself personal data stays until then. Cannot reach: a message in a queue that a consumer has yet to
 * handle, records of the stream (24 hours), backups, and what handlers did.
 *
 * Run again if it died: each step is safe to repeat. Throws `INVALID_USE` for a pending event unless `undelivered` is said,
 * `INVALID_SETTING`, and errors of the AWS SDK as they are.
 */
export async function forget(system: OutboxSystem, ref: EventRef, options: ForgetOptions): Promise<ForgetReport> {
  checkOptions('forget', options, ['by', 'reason', 'undelivered', 'onEstimate', 'signal', 'onProgress'])
  checkRef('forget', ref)
  const checked = checkSystem('forget', system)
  const { by, reason } = options
  const act = historyEntry('forget', { by, reason, at: checked.clock.now() })
  const id = idOf(ref)
  return {
    row: await forgetTheRow(checked, { ref, options, act }),
    messages: await deleteLetters(checked, id, options),
    entries: await forgetEntries(checked, id, act),
  }
}

type Job = { readonly ref: EventRef; readonly options: ForgetOptions; readonly act: HistoryEntry }

async function forgetTheRow(system: CheckedSystem, { ref, options, act }: Job): Promise<ForgetReport['row']> {
  for (let tries = 1; tries <= TRIES; tries += 1) {
    const found = await findRow(system, ref, options)
    if (found === undefined) return 'not-found'
    const { summary } = found
    if ((summary.state === 'pending' || summary.state === 'pull') && options.undelivered !== true)
      throw new OutboxError('INVALID_USE', STILL_PENDING)
    if (summary.forgotten !== undefined || (await forgetRow(system, summary, act)) === 'written') return 'forgotten'
  }
  throw new OutboxError('UNAVAILABLE', 'The row changed each time it was read. Wait a little and run it again.')
}

const STILL_PENDING =
  'The event has not been delivered yet, so that forgetting it would lose it. Wait until it is relayed, or say so (`undelivered`, --undelivered): it never will be delivered.'

async function deleteLetters(system: CheckedSystem, id: string, { signal, onProgress }: Watch): Promise<number> {
  let deleted = 0
  let seen = 0
  for (const queue of deadLetterQueues(system)) {
    const visit = async (messages: readonly Message[]): Promise<readonly Message[]> => {
      seen += messages.length
      onProgress?.(seen)
      const gone = await remove(
        queue,
        messages.filter((message) => readDeadLetter(message).id === id),
      )
      deleted += gone.length
      return gone
    }
    await walkDeadLetters(queue, visit, signal)
  }
  return deleted
}

async function forgetEntries(system: CheckedSystem, id: string, act: HistoryEntry): Promise<number> {
  let forgotten = 0
  for (const tableName of ledgerTables(system)) {
    const ledger = { dynamo: system.dynamo, tableName }
    for (const entry of await readEntries(ledger, id)) if (await forgetEntry(ledger, entry, act)) forgotten += 1
  }
  return forgotten
}
