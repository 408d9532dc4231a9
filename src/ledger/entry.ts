/**
 * One row of the ledger: what has become of one event in one handler. `pk` is the event id (the SQS message id for a
 * foreign message), `sk` is `consumer/handler`.
 */
export type Entry = EntryKey & {
  readonly status: EntryStatus
  /** Random, new with every claim: together with `status` it names one version of the row. */
  readonly token: string
  /** When the claim lapses, ms since 1970. Means something only while `running` or `alone`. */
  readonly lease: number
  /** Failures, plus crashes while alone. Stored with the claim or failure that counts them. */
  readonly attempts: number
  /** When a `failed` row may be claimed again, ms since 1970. 0: never set. */
  readonly due: number
  /** Which round of the event this is, ms since 1970. */
  readonly life: number
  /** Why it last failed: 1–512 bytes, no control characters. Kept when the row is claimed again. */
  readonly failure?: string
  /** When DynamoDB may delete the row, epoch **seconds**. From then on it counts as absent, deleted or not. */
  readonly expires: number
}

export type EntryKey = {
  /** Event id, or the SQS message id of a foreign message. */
  readonly id: string
  /** `consumer/handler`. Permanent: renaming one makes every event new to it. */
  readonly name: string
}

/**
 * `running`: claimed, beside others. `alone`: claimed with nothing else of the invocation running, so that a crash can
 * only be its own. `failed`: to be claimed again once due, or at its limit and on its way to the dead-letter queue.
 * `dead`, `done`: ended, until a later life.
 */
export type EntryStatus = 'running' | 'alone' | 'failed' | 'dead' | 'done'

const STATUSES: ReadonlySet<unknown> = new Set<EntryStatus>(['running', 'alone', 'failed', 'dead', 'done'])

/**
 * Reads a row given as native values. Never throws: undefined for a row that this code did not write, which is left
 * alone.
 */
export function parseEntry(row: Readonly<Record<string, unknown>>): Entry | undefined {
  const { pk, sk, status, token, failure, due = 0 } = row
  const { lease, attempts, life, expires } = row
  if (![pk, sk, token].every((value) => typeof value === 'string' && value !== '')) return undefined
  if (!STATUSES.has(status)) return undefined
  if (![lease, attempts, due, life, expires].every(Number.isFinite)) return undefined
  return {
    id: pk as string,
    name: sk as string,
    status: status as EntryStatus,
    token: token as string,
    lease: lease as number,
    attempts: attempts as number,
    due: due as number,
    life: life as number,
    expires: expires as number,
    ...(typeof failure === 'string' ? { failure } : {}),
  }
}
