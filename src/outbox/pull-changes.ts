import { encodeLifeNote, type LifeNote } from '../event/life.ts'
import type { Seen } from './pull-row.ts'
import type { PullChange, RowVersion, StoredRow } from './pull-store.ts'
import { deadShard, type RowKey } from './row.ts'

/** A worker's hold on a row until `lease`, ms since 1970. */
export type Hold = {
  readonly key: RowKey
  readonly shard: string
  readonly token: string
  readonly lease: number
  /** Claims spent, this one included. */
  readonly claims: number
}

/**
 * Two workers that saw the same row both try to take it; the first one's token makes the second one's condition fail:
 *
 *     A: sees (no token, due) ─────────── set token A where no token, due ──▶ landed
 *     B: sees (no token, due) ── set token B where no token, due ─────────────────▶ gone: the row has token A
 *
 * A lapsed claim is taken from its token the same way. `claims` grows with the claim, not with its end: it counts for a
 * process that dies.
 */
export function claimChange(
  { key, version, claims }: Seen,
  { token, lease }: Pick<Hold, 'token' | 'lease'>,
): PullChange {
  return { key, expect: version, set: { token, due: lease, claims: claims + 1 }, remove: [] }
}

/**
 * Every other change of a held row is its holder's alone. A worker that was paused beyond its lease changes nothing:
 *
 *     A: claims (token A) ── paused ─────────────────── acknowledge where token A ──▶ gone
 *     B:                        lease over ── claims (token B) ── works …
 */
export function renewChange(hold: Hold, lease: number): PullChange {
  return owned(hold, { due: lease }, [])
}

/** Keeps the token: a second try after a lost answer finds the row relayed by it. `expires` in seconds since 1970. */
export function acknowledgeChange(hold: Hold, expires: number): PullChange {
  return owned(hold, { expires }, ['shard'])
}

/** Whether the row shows that an acknowledgement with this token has landed. */
export function isAcknowledged(row: StoredRow | undefined, { token }: Hold): boolean {
  return row !== undefined && row['shard'] === undefined && row['token'] === token
}

/** Back to waiting until `due` (ms), the claim spent. */
export function failChange(hold: Hold, { due, reason }: { readonly due: number; readonly reason: string }): PullChange {
  return owned(hold, { due, failure: reason }, ['token'])
}

/** Back to waiting until `due` (ms), the claim given back. */
export function releaseChange(hold: Hold, due: number): PullChange {
  return owned(hold, { due, claims: hold.claims - 1 }, ['token'])
}

export type Grave = Seen & {
  /** 1–512 bytes without control characters. */
  readonly reason: string
  /** Which handlers a redrive concerns, in a later life. Without it: a redrive is for all. */
  readonly note?: LifeNote
  /** ms; `due` of a row that has none, which the index needs. */
  readonly at: number
}

/**
 * Waiting → dead, from the version that was judged: a worker that took the row meanwhile keeps it, and a redrive meanwhile
 * stands. It never expires there. `claims` says where a redrive puts it back.
 */
export function buryChange({ key, version, claims, reason, note, at }: Grave): PullChange {
  const grave = { shard: deadShard(key), failure: reason, claims, due: version.due ?? at }
  const set: PullChange['set'] = note === undefined ? grave : { ...grave, note: encodeLifeNote(note) }
  return { key, expect: version, set, remove: ['token', 'expires'] }
}

export function versionOf({ shard, token, lease }: Hold): RowVersion {
  return { shard, token, due: lease }
}

function owned(hold: Hold, set: PullChange['set'], remove: readonly string[]): PullChange {
  return { key: hold.key, expect: versionOf(hold), set, remove }
}
