import type { OnExisting } from './commit.ts'
import type { Standing } from './judge-row.ts'

/** A cancelled transaction, as far as it is known. */
export type Cancellation = {
  /** Codes of the caller's writes and of the guards, in order. `None` is fine. */
  readonly writes: readonly string[]
  readonly guards: readonly string[]
  /** Each event's row: its code, whether its number is `auto`, and what stands there if that is known. */
  readonly rows: readonly { readonly code: string; readonly auto: boolean; readonly standing?: Standing }[]
  readonly onExisting: OnExisting
}

export type Decision =
  /** A row of this very call stands there: the transaction was applied. */
  | { readonly kind: 'committed' }
  | { readonly kind: 'duplicate' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'guard-failed' | 'condition-failed'; readonly index: number }
  /** DynamoDB calls an action wrong: the caller's, unless the index is beyond the writes. */
  | { readonly kind: 'invalid'; readonly index: number; readonly code: string }
  /** Other actions, under a new token: without these rows (stored already), with new numbers where they collided. */
  | { readonly kind: 'change'; readonly drop: readonly number[] }
  /** The same actions, under the same token. */
  | { readonly kind: 'again'; readonly code: string }
  /** The rows must be read before this can be decided. */
  | { readonly kind: 'look' }

const FAILED = 'ConditionalCheckFailed'
const INVALID: ReadonlySet<string> = new Set(['ValidationError', 'ItemCollectionSizeLimitExceeded'])

/**
 * What a cancelled transaction means. In this order: our own row proves the commit; a guard; an event with other content;
 * duplicates (they win over the caller's own condition, which fails because the first run changed the data); the caller's
 * condition; what can be changed; what can be sent again.
 */
export function decideCancellation(cancellation: Cancellation): Decision {
  const { writes, guards, rows, onExisting } = cancellation
  if (rows.some(({ standing }) => standing === 'own')) return { kind: 'committed' }
  if (mustLook(cancellation)) return { kind: 'look' }
  const guard = guards.indexOf(FAILED)
  if (guard >= 0) return { kind: 'guard-failed', index: guard }
  const keyed = rows.filter(({ auto }) => !auto)
  if (keyed.some(({ standing }) => standing === 'different')) return { kind: 'conflict' }
  const equal = keyed.filter(({ standing }) => standing === 'equal').length
  if (onExisting === 'cancel' && equal > 0) return equal === keyed.length ? { kind: 'duplicate' } : mixed(cancellation)
  const write = writes.indexOf(FAILED)
  if (write >= 0) return { kind: 'condition-failed', index: write }
  return decideRetry(cancellation)
}

function decideRetry({ writes, guards, rows }: Cancellation): Decision {
  const codes = [...writes, ...guards, ...rows.map(({ code }) => code)]
  const invalid = codes.findIndex((code) => INVALID.has(code))
  if (invalid >= 0) return { kind: 'invalid', index: invalid, code: codes[invalid] ?? '' }
  const drop = [...rows.keys()].filter((n) => rows[n]?.auto === false && rows[n].standing === 'equal')
  if (drop.length > 0 || rows.some(isCollision)) return { kind: 'change', drop }
  return { kind: 'again', code: busyCode(codes) ?? 'TransactionCanceledException' }
}

/** A mix of duplicates and new events is a conflict, unless the other call is still committing: then its rows are not all to be seen yet. */
function mixed({ writes, guards, rows }: Cancellation): Decision {
  const code = busyCode([...writes, ...guards, ...rows.map((row) => row.code)])
  return code === undefined ? { kind: 'conflict' } : { kind: 'again', code }
}

/**
 * DynamoDB need not report every reason. A row that is not reported can be our own (then a condition failed because this
 * call had been applied) or a duplicate; one row of ours that is another's proves that this call was not applied.
 */
function mustLook({ writes, guards, rows, onExisting }: Cancellation): boolean {
  const unseen = rows.filter(({ standing }) => standing === undefined)
  if (unseen.length === 0) return false
  if (rows.some(({ code, standing }) => code === FAILED && standing === undefined)) return true
  const conditionFailed = writes.includes(FAILED) || guards.includes(FAILED)
  if (conditionFailed && unseen.length === rows.length) return true
  const keyedUnseen = unseen.some(({ auto }) => !auto)
  const keyedEqual = rows.some(({ auto, standing }) => !auto && standing === 'equal')
  return onExisting === 'cancel' && keyedUnseen && (conditionFailed || keyedEqual)
}

function isCollision({ auto, standing }: Cancellation['rows'][number]): boolean {
  return auto && (standing === 'equal' || standing === 'different')
}

function busyCode(codes: readonly string[]): string | undefined {
  return codes.find((code) => code !== 'None' && code !== FAILED)
}
