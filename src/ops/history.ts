import { failureReason, invalidSetting } from '../settings.ts'

/** What an operator may do to an event. */
export type OperatorAction = 'redrive' | 'discard' | 'forget' | 'replay'

/** One act of an operator, as it is recorded on the row or the ledger entry it was done to. */
export type HistoryEntry = {
  /** ms */
  readonly at: number
  readonly action: OperatorAction
  /** Who: 1–64 printable ASCII characters. */
  readonly by: string
  /** 1–128 UTF-8 bytes, without control characters. */
  readonly reason?: string
}

/** Entries kept on a row: with their longest texts some 1.2 KB of the 2 KiB that a row has free. */
const KEPT = 5
const MAX_REASON_BYTES = 128

/** Who acts, and why. Throws `INVALID_SETTING`. */
export function historyEntry(
  action: OperatorAction,
  { by, reason, at }: { readonly by: string; readonly reason?: string | undefined; readonly at: number },
): HistoryEntry {
  if (typeof by !== 'string' || !/^[ -~]{1,64}$/.test(by))
    throw invalidSetting('by', 'must say who does this, in 1–64 printable ASCII characters')
  if (reason !== undefined && !isReason(reason))
    throw invalidSetting('reason', `must be text of 1–${MAX_REASON_BYTES} bytes`)
  return { at, action, by, ...(reason === undefined ? {} : { reason: failureReason(reason) }) }
}

function isReason(reason: unknown): boolean {
  return typeof reason === 'string' && reason.trim() !== '' && Buffer.byteLength(reason) <= MAX_REASON_BYTES
}

/** The last few, this one included. */
export function withEntry(history: readonly HistoryEntry[], entry: HistoryEntry): readonly HistoryEntry[] {
  return [...history, entry].slice(-KEPT)
}

/** Reads a stored list given as native values. Never throws: what is no entry is left out. */
export function readHistory(stored: unknown): readonly HistoryEntry[] {
  return Array.isArray(stored) ? stored.filter(isEntry) : []
}

function isEntry(value: unknown): value is HistoryEntry {
  const { at, action, by } = (value ?? {}) as Record<string, unknown>
  return typeof at === 'number' && typeof action === 'string' && typeof by === 'string'
}
