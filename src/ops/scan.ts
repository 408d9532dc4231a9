import { OutboxError } from '../errors.ts'
import type { Watch } from './dead-letters.ts'
import { readTableSize, scanRows } from './dynamo-outbox-rows.ts'
import type { RowSummary } from './row-summary.ts'
import type { CheckedSystem } from './system.ts'

/** What reading a whole table takes, by the table's own figures, which DynamoDB brings up to date every six hours. */
export type ScanEstimate = { readonly rows: number; readonly bytes: number; readonly readUnits: number }

export type ScanConsent = {
  /** Asked before a scan, with what it will read; anything but true leaves it. Without it no scan is made. */
  readonly onEstimate?: (estimate: ScanEstimate) => boolean | Promise<boolean>
}

type Scan = Watch &
  ScanConsent & {
    readonly isWanted: (row: RowSummary) => boolean
    /** Ends as soon as it has more than these. */
    readonly limit: number
  }

const SEGMENTS = 8

/**
 * Reads the whole table, 8 segments side by side, if whoever pays for it agrees. `more`: it ended before all was read.
 * Throws `INVALID_USE` if nobody was asked.
 */
export async function scanFor(
  system: CheckedSystem,
  { isWanted, limit, onEstimate, signal, onProgress }: Scan,
): Promise<{ readonly rows: readonly RowSummary[]; readonly more: boolean }> {
  if (onEstimate === undefined) throw new OutboxError('INVALID_USE', NEEDS_SCAN)
  if (!(await onEstimate(estimateScan(await readTableSize(system))))) return { rows: [], more: true }
  const rows: RowSummary[] = []
  let seen = 0
  const readSegment = async (index: number): Promise<boolean> => {
    for await (const page of scanRows(system, { index, total: SEGMENTS })) {
      if (rows.length > limit || signal?.aborted) return false
      seen += page.length
      rows.push(...page.filter(isWanted))
      onProgress?.(seen)
    }
    return true
  }
  const whole = await Promise.all(Array.from({ length: SEGMENTS }, (_, index) => readSegment(index)))
  return { rows: rows.slice(0, limit), more: whole.includes(false) || rows.length > limit }
}

/** Half a read unit for each 4 KB: a scan is eventually consistent. */
export function estimateScan({ rows, bytes }: { readonly rows: number; readonly bytes: number }): ScanEstimate {
  return { rows, bytes, readUnits: Math.ceil(bytes / 4096) / 2 }
}

const NEEDS_SCAN =
  'This cannot be found by an index: the whole table must be read. Agree to that (`onEstimate` is told what it takes), or name ' +
  'the source and key of the event instead.'
