import { hash } from 'node:crypto'

/**
 * Who an event is. Unordered events have a `key` of the caller's; ordered ones a `group` and a sequence, which make the
 * key `group`, a space, the decimal sequence. No key of a caller may hold a space, so the two forms never meet.
 */
export type Identity =
  | { readonly source: string; readonly key: string }
  | { readonly source: string; readonly group: string; readonly sequence: number }

/** Longest sequence: 16 digits, `Number.MAX_SAFE_INTEGER` and below. */
export const SEQUENCE_DIGITS = 16

/** A sequence as stored and sent: 16 digits, so that text order is number order. */
export function formatSequence(sequence: number): string {
  return String(sequence).padStart(SEQUENCE_DIGITS, '0')
}

/**
 * Lowest number given out on a day: days since 1970 × 10⁹ + 1. Rows expire a day after they were relayed at the soonest,
 * so an id never comes back, whether the whole group is gone by then or an older row of it, a dead one, still stands.
 */
export function firstSequence(nowMs: number): number {
  return Math.floor(nowMs / 86_400_000) * 1e9 + 1
}

export function eventKey(identity: Identity): string {
  return 'key' in identity ? identity.key : `${identity.group} ${identity.sequence}`
}

/** Lowercase hex SHA-256 of `source + "/" + key`, 64 characters. */
export function eventId(identity: Identity): string {
  return sha256(`${identity.source}/${eventKey(identity)}`)
}

export function sha256(text: string): string {
  return hash('sha256', text, 'hex')
}
