import { DEFAULT_BACKOFF, DEFAULT_MAX_ATTEMPTS } from './backoff.ts'
import { OutboxError } from './errors.ts'

/** An allowed range of whole numbers, both ends included. */
export type Range = { readonly min: number; readonly max: number; readonly default: number; readonly unit: string }

/** Every limit a person can set, in one place (seconds unless the name says otherwise). */
export const RANGES = {
  leaseSeconds: { min: 1, max: 3600, default: 60, unit: 'seconds' },
  maxAttempts: { min: 1, max: 100, default: DEFAULT_MAX_ATTEMPTS, unit: 'attempts' },
  backoffFirstSeconds: { min: 0, max: 86_400, default: DEFAULT_BACKOFF.firstSeconds, unit: 'seconds' },
  backoffCapSeconds: { min: 0, max: 86_400, default: DEFAULT_BACKOFF.capSeconds, unit: 'seconds' },
} as const satisfies Record<string, Range>

/** Longest stored failure reason, in UTF-8 bytes. */
export const MAX_REASON_BYTES = 512

/** The given whole number if it lies in the range, the default if it is undefined; else an `INVALID_SETTING` error. */
export function inRange(name: string, value: number | undefined, range: Range): number {
  if (value === undefined) return range.default
  if (Number.isInteger(value) && value >= range.min && value <= range.max) return value
  throw invalidSetting(name, `must be a whole number of ${range.unit} from ${range.min} to ${range.max}`)
}

/** Refuses an option that is not in `allowed`, naming it and what is allowed. */
export function checkOptions(owner: string, given: object, allowed: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (allowed.includes(name)) continue
    throw invalidSetting(`${owner}: ${JSON.stringify(name)}`, `is not an option; allowed are ${allowed.join(', ')}`)
  }
}

export function invalidSetting(path: string, rule: string): OutboxError {
  return new OutboxError('INVALID_SETTING', `${path} ${rule}.`, { details: { path } })
}

/**
 * A failure reason fit to be stored: control characters become spaces, cut to 512 UTF-8 bytes at a character's end,
 * never empty.
 */
export function failureReason(text: string): string {
  const clean = text
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .trim()
  let bytes = 0
  let end = 0
  for (const character of clean) {
    bytes += Buffer.byteLength(character)
    if (bytes > MAX_REASON_BYTES) break
    end += character.length
  }
  return clean.slice(0, end) || 'no reason given'
}
