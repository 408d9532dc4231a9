import type { Clock } from '../clock.ts'
import { errorName } from '../errors.ts'
import type { Event } from '../event/event.ts'
import { eventId } from '../event/identity.ts'
import type { LifeNote } from '../event/life.ts'
import { failureReason } from '../settings.ts'
import type { Logger, Telemetry } from '../telemetry.ts'
import { buryChange, claimChange, type Hold } from './pull-changes.ts'
import { findHead } from './pull-head.ts'
import { type Candidate, type Look, planCandidates } from './pull-look.ts'
import { decidePull, type PullDecision, type PullRow, readPullRow } from './pull-row.ts'
import type { PullStore } from './pull-store.ts'
import { land, unavailable } from './pull-write.ts'
import { identityOf } from './row.ts'

/** An event that this worker has claimed. */
export type PulledEvent = {
  readonly event: Event
  /** Which claim of this event this is: 1 for the first; more after a failure, or a claim that lapsed. */
  readonly claims: number
  /** When the claim lapses and others may take the event, ms since 1970. */
  readonly lease: number
  /** Set after a redrive or replay: a later round of the event, for these handlers only. */
  readonly note?: LifeNote
  /** What the other calls know the claim by. */
  readonly hold: Hold
}

export type ClaimDeps = {
  readonly store: PullStore
  readonly look: Look
  readonly clock: Clock
  readonly logger: Logger
  readonly telemetry: Telemetry
  readonly source: string
  readonly region: string
  readonly workerId: string
  readonly leaseMs: number
  readonly maxClaims: number
}

/**
 * Claims up to `limit` events that are due. Throws `UNAVAILABLE` if the table did not answer and nothing was claimed: what
 * was claimed must reach the caller, else its leases run for nobody.
 */
export async function claimEvents(deps: ClaimDeps, limit: number): Promise<readonly PulledEvent[]> {
  const claimed: PulledEvent[] = []
  const tried = new Set<string>()
  const wanted = () => limit - claimed.length
  try {
    for await (const entries of deps.look(wanted)) {
      claimed.push(...(await claimAmong(deps, planCandidates(entries, deps.clock.now(), tried), wanted())))
      if (wanted() <= 0) break
    }
  } catch (cause) {
    if (claimed.length === 0) throw unavailable('Nothing was claimed', cause)
    deps.logger.warn('fewer events claimed than could be', { reason: errorName(cause) })
  }
  return claimed
}

/** Never more than `room` at a time, so that none is claimed beyond it. Throws only if nothing was claimed. */
async function claimAmong(deps: ClaimDeps, candidates: readonly Candidate[], room: number): Promise<PulledEvent[]> {
  const claimed: PulledEvent[] = []
  for (let next = 0; next < candidates.length && claimed.length < room; ) {
    const chunk = candidates.slice(next, next + room - claimed.length)
    next += chunk.length
    const results = await Promise.allSettled(chunk.map((candidate) => claimOne(deps, candidate)))
    claimed.push(...results.flatMap((result) => (result.status === 'fulfilled' && result.value ? [result.value] : [])))
    const failed = results.find((result) => result.status === 'rejected')
    if (failed === undefined) continue
    if (claimed.length === 0) throw failed.reason
    return claimed
  }
  return claimed
}

/** Undefined if it cannot be claimed now, or somebody else was first. */
async function claimOne(deps: ClaimDeps, candidate: Candidate): Promise<PulledEvent | undefined> {
  const { store, clock, source, region, maxClaims } = deps
  const stored =
    candidate.kind === 'row' ? await store.readRow(candidate.key) : await findHead(store, candidate.pk, candidate.shown)
  const decision = decidePull(readPullRow(stored, { source, region }), { now: clock.now(), maxClaims })
  switch (decision.action) {
    case 'leave':
      if (decision.why === 'newer') deps.telemetry.count('newerRows')
      return undefined
    case 'bury':
      await bury(deps, decision)
      return undefined
    case 'claim':
      return take(deps, decision.row)
  }
}

async function take(deps: ClaimDeps, row: PullRow): Promise<PulledEvent | undefined> {
  const { store, clock, workerId, leaseMs } = deps
  const token = `${workerId} ${clock.id().replaceAll('-', '').slice(-TOKEN_LENGTH)}`
  const lease = clock.now() + leaseMs
  const landed = await land({ store, clock }, claimChange(row, { token, lease }), (stored) => stored['token'] === token)
  if (!landed) return undefined
  const { key, event, note, version } = row
  const claims = row.claims + 1
  const hold = { key, shard: version.shard, token, lease, claims }
  return { event, claims, lease, hold, ...(note === undefined ? {} : { note }) }
}

/** 64 random bits after the worker's name: who holds a row is seen in it. */
const TOKEN_LENGTH = 16

async function bury(deps: ClaimDeps, decision: Extract<PullDecision, { action: 'bury' }>): Promise<void> {
  const { store, clock, telemetry, logger } = deps
  const { key, version, claims, malformed } = decision
  const identity = identityOf(key)
  const reason = failureReason(decision.reason)
  if (!(await land({ store, clock }, buryChange({ key, version, claims, reason, at: clock.now() }), () => false)))
    return
  telemetry.count('deadRows')
  if (malformed) telemetry.count('malformedRows')
  logger.error('row dead-lettered', { id: identity === undefined ? undefined : eventId(identity), reason })
}
