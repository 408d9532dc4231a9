import type { Entry, EntryKey } from '../../src/ledger/entry.ts'
import { keyOf, type LedgerStore, type LedgerWrite, type WriteAnswer } from '../../src/ledger/ledger-store.ts'

export type MemoryLedgerStore = LedgerStore & {
  readonly rows: Map<string, Entry>
  readonly read: (key: EntryKey) => Entry | undefined
  /** TTL's sweep: removes a row as DynamoDB does, at any time after its expiry. */
  readonly remove: (key: EntryKey) => void
  /** What the next writes meet, in order: an outage (not applied), or a lost answer (applied). */
  readonly faults: ('outage' | 'lost-answer' | 'throttle')[]
}

/** A store that says no wherever DynamoDB would: every condition is checked, against rows that nobody else can touch. */
export function createMemoryLedgerStore(): MemoryLedgerStore {
  const rows = new Map<string, Entry>()
  const faults: MemoryLedgerStore['faults'] = []
  const read = (key: EntryKey) => rows.get(textOf(key))
  return {
    rows,
    faults,
    read,
    remove: (key) => void rows.delete(textOf(key)),
    write: async (write) => {
      await Promise.resolve()
      const fault = faults.shift()
      if (fault === 'outage') return { status: 'failed', reason: 'TimeoutError', retryable: false }
      if (fault === 'throttle') return { status: 'failed', reason: 'ThrottlingError', retryable: true }
      const answer = apply(rows, write)
      return fault === 'lost-answer' ? { status: 'failed', reason: 'NoAnswer', retryable: true } : answer
    },
  }
}

function apply(rows: Map<string, Entry>, write: LedgerWrite): WriteAnswer {
  const key = textOf(keyOf(write))
  const entry = rows.get(key)
  if (write.kind === 'insert') {
    if (entry !== undefined) return { status: 'refused', entry }
    rows.set(key, write.entry)
    return { status: 'applied' }
  }
  const { token, status } = write.expect
  if (entry?.token !== token || entry.status !== status) return { status: 'refused', entry }
  rows.set(key, { ...entry, ...write.set })
  return { status: 'applied' }
}

function textOf({ id, name }: EntryKey): string {
  return `${id} ${name}`
}
