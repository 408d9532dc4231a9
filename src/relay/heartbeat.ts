import { numberOf, type RowImage } from './row-image.ts'
import type { Heartbeat } from './row-store.ts'

/** Reads the sweeper's row. Undefined for none, and for what is none of ours. */
export function readHeartbeat(item: RowImage | undefined): Heartbeat | undefined {
  const at = numberOf(item?.['at'])
  if (item === undefined || at === undefined) return undefined
  const dead = numberOf(item['dead'])
  const deadCountedAt = numberOf(item['deadCountedAt'])
  return {
    at,
    pending: numberOf(item['pending']) ?? 0,
    oldestPendingMs: numberOf(item['oldestPendingMs']) ?? 0,
    ...(dead === undefined ? {} : { dead }),
    ...(deadCountedAt === undefined ? {} : { deadCountedAt }),
  }
}
