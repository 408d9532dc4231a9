import { jitter } from '../backoff.ts'
import type { Clock } from '../clock.ts'
import { type ClaimRequest, decideClaim, type Exhausted } from './decide-claim.ts'
import type { Entry } from './entry.ts'
import type { Claim, ClaimOutcome, Failure, Ledger, SettleOutcome } from './ledger.ts'
import type { Change, LedgerStore, LedgerWrite, WriteAnswer } from './ledger-store.ts'

/** How often a claim looks again at a row that others keep changing under it. */
const MAX_ROUNDS = 5
/** How often one write is sent when it is throttled, conflicts or is not answered. */
const MAX_TRIES = 5
const CONTENDED_MS = 1000

export type ClaimsOptions = {
  readonly store: LedgerStore
  readonly clock: Clock
  /** How long a row is kept after its last claim, seconds. */
  readonly keepSeconds: number
}

/**
 * Claims, and what becomes of them, over any store. Every write is conditional on the version of the row it was decided
 * from, so a stale worker changes nothing; a write that was applied though its answer was lost is recognised by its token
 * and status.
 */
export function createClaims(options: ClaimsOptions): Pick<Ledger, 'claim' | 'complete' | 'fail' | 'release' | 'bury'> {
  const { store, clock, keepSeconds } = options

  const claim = async (request: ClaimRequest): Promise<ClaimOutcome> => {
    const token = clock.id()
    let seen: Entry | undefined
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const now = clock.now()
      const decision = decideClaim(seen, request, now)
      if (decision.action !== 'take') return refusal(decision)
      const { id, name, lease } = request
      const { state, takenOver } = decision
      const claimed: Claim = { id, name, token, lease, ...state }
      const answer = await apply(takeWrite(seen, claimed, Math.floor(now / 1000) + keepSeconds))
      if (answer.status === 'applied') {
        return takenOver === undefined
          ? { status: 'claimed', claim: claimed }
          : { status: 'claimed', claim: claimed, takenOver }
      }
      if (answer.status === 'failed') return { status: 'unavailable', reason: answer.reason, claim: claimed }
      seen = answer.entry
    }
    return { status: 'deferred', until: clock.now() + CONTENDED_MS }
  }

  /**
   * Sends a write until it is answered. A refusal by our own earlier try is a success:
   *
   *     us  ── write (token t) ──▶ applied, answer lost
   *     us  ── write (token t) ──▶ refused, the row has token t and the status we set ⇒ applied
   */
  const apply = async (write: LedgerWrite): Promise<WriteAnswer> => {
    for (let tries = 1; ; tries++) {
      const answer = await store.write(write)
      if (answer.status === 'refused' && isOurs(write, answer.entry)) return { status: 'applied' }
      if (answer.status !== 'failed' || !answer.retryable || tries === MAX_TRIES) return answer
      await clock.sleep(jitter(tries, clock.random))
    }
  }

  const settle = async (write: LedgerWrite): Promise<SettleOutcome> => {
    const answer = await apply(write)
    if (answer.status === 'applied') return { status: 'settled' }
    if (answer.status === 'refused') return { status: 'lost', entry: answer.entry }
    return { status: 'unavailable', reason: answer.reason }
  }

  return {
    claim,
    complete: (owned) => settle(ownedWrite(owned, { status: 'done' })),
    fail: (owned, { attempts, due, reason }: Failure) =>
      settle(ownedWrite(owned, { status: 'failed', attempts, due, failure: reason })),
    release: (owned, due) => settle(ownedWrite(owned, { status: 'failed', due })),
    bury: (exhausted) => settle(buryWrite(exhausted)),
  }
}

function refusal(decision: Exclude<ReturnType<typeof decideClaim>, { action: 'take' }>): ClaimOutcome {
  switch (decision.action) {
    case 'skip':
      return { status: decision.status }
    case 'defer':
      return { status: 'deferred', until: decision.until }
    case 'wait-alone':
      return { status: 'wait-alone', crashes: decision.crashes }
    case 'exhausted':
      return { status: 'exhausted', exhausted: decision.exhausted }
  }
}

/**
 * Two workers that saw the same row both try to take it; the first one's token makes the second one's condition fail:
 *
 *     A: sees (t0, failed) ───────── set t1 where t0, failed ──▶ applied
 *     B: sees (t0, failed) ── set t2 where t0, failed ─────────────────▶ refused: the row has t1
 */
function takeWrite(seen: Entry | undefined, claimed: Claim, expires: number): LedgerWrite {
  const { id, name, ...state } = claimed
  if (seen === undefined) return { kind: 'insert', entry: { ...claimed, due: 0, expires } }
  const { token, status } = seen
  return { kind: 'update', key: { id, name }, expect: { token, status }, set: { ...state, expires } }
}

/**
 * A worker that was paused beyond its lease wakes up after another has taken over, and changes nothing:
 *
 *     A: claims t1 ── paused ────────────────────────── set done where t1 ──▶ refused
 *     B:                  lease over ── claims t2 ── runs …
 */
function ownedWrite(claim: Claim, set: Change): LedgerWrite {
  const { token, status } = claim
  return { kind: 'update', key: { id: claim.id, name: claim.name }, expect: { token, status }, set }
}

/**
 * Only the version that was copied to the dead-letter queue is marked; a claim of a later life made meanwhile stands:
 *
 *     A: sees (t1, failed, at its limit) ── copies ────────────────────────── set dead where t1, failed ──▶ refused
 *     B:                     redriven copy, a later life ── claims t2 ── runs …
 */
function buryWrite({ id, name, token, status, attempts, failure }: Exhausted): LedgerWrite {
  return { kind: 'update', key: { id, name }, expect: { token, status }, set: { status: 'dead', attempts, failure } }
}

function isOurs(write: LedgerWrite, entry: Entry | undefined): boolean {
  if (entry === undefined) return false
  const target = write.kind === 'insert' ? write.entry : { ...write.expect, ...write.set }
  return entry.token === target.token && entry.status === target.status
}
