import { type Backoff, DEFAULT_BACKOFF } from './backoff.ts'
import { checkOptions, inRange, invalidSetting, RANGES } from './settings.ts'

const SHORT_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** The name of a consumer, handler or worker: 1–64 letters, digits, `.`, `_` and `-`, starting with a letter or digit. */
export function checkShortName(path: string, name: string): string {
  if (typeof name === 'string' && SHORT_NAME.test(name)) return name
  throw invalidSetting(path, 'must be 1–64 letters, digits, ".", "_" and "-", starting with a letter or digit')
}

/** A schedule with its defaults, each part in its range. */
export function checkBackoff(backoff: Partial<Backoff> = {}): Backoff {
  checkOptions('backoff', backoff, Object.keys(DEFAULT_BACKOFF))
  return {
    firstSeconds: inRange('backoff.firstSeconds', backoff.firstSeconds, RANGES.backoffFirstSeconds),
    capSeconds: inRange('backoff.capSeconds', backoff.capSeconds, RANGES.backoffCapSeconds),
  }
}
