import type { Message } from '@aws-sdk/client-sqs'
import { decodeBody } from '../event/codec.ts'
import { checkOptions } from '../settings.ts'
import { readDeadLetter } from './dead-letter.ts'
import { messageItems, type Watch } from './dead-letters.ts'
import { type LedgerEntry, readEntries } from './dynamo-ledger-entries.ts'
import { checkRef, type EventRef, type FoundRow, findRow, idOf } from './find-row.ts'
import type { DeadItem } from './group-dead-letters.ts'
import type { RowSummary } from './row-summary.ts'
import type { ScanConsent } from './scan.ts'
import { type CheckedSystem, checkSystem, deadLetterQueues, ledgerTables, type OutboxSystem } from './system.ts'
import { walkDeadLetters } from './walk-dead-letters.ts'

export type ShowOptions = Watch &
  ScanConsent & {
    /** Whether the body, with the event's data, is given too. Default: no. */
    readonly data?: boolean
  }

export type EventView = {
  readonly id: string
  /** Absent: expired, never written, or not to be found by its id without a scan. */
  readonly row?: RowSummary
  /** The CloudEvents text; only if `data` was asked for. */
  readonly body?: string
  /** What each handler has made of it, by the ledger. */
  readonly handlers: readonly (LedgerEntry & { readonly ledgerTable: string })[]
  /** Its messages in the dead-letter queues. */
  readonly deadLetters: readonly DeadItem[]
}

/**
 * All that is known of one event: its row, each handler's state with what operators did, and its dead letters. The
 * dead-letter queues are only looked through if a handler is dead, or nothing else knows of the event: that takes three
 * requests for ten messages and hides them from others meanwhile. Undefined if nothing at all is found.
 *
 * Throws `INVALID_SETTING`, and errors of the AWS SDK as they are.
 */
export async function showEvent(
  system: OutboxSystem,
  ref: EventRef,
  options: ShowOptions = {},
): Promise<EventView | undefined> {
  checkOptions('showEvent', options, ['data', 'onEstimate', 'signal', 'onProgress'])
  checkRef('showEvent', ref)
  const checked = checkSystem('showEvent', system)
  const id = idOf(ref)
  const handlers = await readHandlers(checked, id)
  const { onEstimate: _, ...withoutScan } = options
  const indexed = await findRow(checked, ref, withoutScan)
  const isDead = handlers.some(({ status }) => status === 'dead')
  const letters =
    isDead || (handlers.length === 0 && indexed === undefined) ? await findLetters(checked, id, options) : []
  const found = indexed ?? (await rowOfLetter(checked, letters)) ?? (await findRow(checked, ref, options))
  if (found === undefined && handlers.length === 0 && letters.length === 0) return undefined
  return {
    id,
    ...(found === undefined ? {} : { row: found.summary }),
    ...bodyOf(options, found, letters),
    handlers,
    deadLetters: letters.flatMap(({ message, queueUrl }) => messageItems(message, queueUrl)),
  }
}

type Letter = { readonly message: Message; readonly queueUrl: string }

async function readHandlers(system: CheckedSystem, id: string) {
  const { dynamo } = system
  const read = async (tableName: string) =>
    (await readEntries({ dynamo, tableName }, id)).map((entry) => ({ ...entry, ledgerTable: tableName }))
  return (await Promise.all(ledgerTables(system).map(read))).flat()
}

async function findLetters(
  system: CheckedSystem,
  id: string,
  { signal, onProgress }: Watch,
): Promise<readonly Letter[]> {
  const found: Letter[] = []
  let seen = 0
  for (const queue of deadLetterQueues(system)) {
    const visit = async (messages: readonly Message[]): Promise<readonly Message[]> => {
      const mine = messages.filter((message) => readDeadLetter(message).id === id)
      found.push(...mine.map((message) => ({ message, queueUrl: queue.deadLetterQueueUrl })))
      seen += messages.length
      onProgress?.(seen)
      return []
    }
    await walkDeadLetters(queue, visit, signal)
  }
  return found
}

/** A dead letter has the whole event, and so the key of its row. */
async function rowOfLetter(system: CheckedSystem, letters: readonly Letter[]): Promise<FoundRow | undefined> {
  const decoded = decodeBody(letters[0]?.message.Body ?? '')
  if (!decoded.ok || !decoded.own) return undefined
  return findRow(system, { source: decoded.event.source, key: decoded.event.key }, {})
}

function bodyOf(
  { data }: ShowOptions,
  found: FoundRow | undefined,
  letters: readonly Letter[],
): { readonly body?: string } {
  const body = found?.body ?? letters[0]?.message.Body
  return data && body !== undefined ? { body } : {}
}
