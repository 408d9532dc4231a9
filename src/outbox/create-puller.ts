import { type Backoff, retryBackoff } from '../backoff.ts'
import { OutboxError } from '../errors.ts'
import type { LifeNote } from '../event/life.ts'
import { checkOptions, failureReason, inRange } from '../settings.ts'
import {
  acknowledgeChange,
  buryChange,
  failChange,
  isAcknowledged,
  releaseChange,
  renewChange,
  versionOf,
} from './pull-changes.ts'
import { type ClaimDeps, claimEvents, type PulledEvent } from './pull-claim.ts'
import type { PullChange, StoredRow } from './pull-store.ts'
import { land, unavailable } from './pull-write.ts'
import { KEEP_RELAYED_SECONDS } from './row.ts'

/** What became of a failure: it comes back, was the last one allowed, or was no longer this worker's to report. */
export type FailOutcome =
  /** `due` in ms since 1970. */
  { readonly status: 'retrying'; readonly due: number } | { readonly status: 'dead' } | { readonly status: 'lost' }

/**
 * Takes events of one source straight from the outbox table, without a broker. Delivery is at least once: a worker that
 * dies after the effect and before `acknowledge` leaves the event to the next claim, with the same id.
 *
 * All but `claim` hold only for the exact claim, and only until its lease ends; otherwise they change nothing and say so.
 * Each is durable at once, so inside `collect` they throw `INVALID_USE`. They throw `UNAVAILABLE` if the table does not
 * answer; a claim that is not answered for lapses.
 */
export type Puller = {
  readonly source: string
  readonly leaseSeconds: number
  readonly maxClaims: number
  /**
   * Claims events that are due, one by default, at most 100. Of a group only the head: the next one once it is acknowledged
   * or dead. An event whose claims are spent is dead-lettered on the way. Empty: nothing is due.
   */
  readonly claim: (options?: { readonly limit?: number }) => Promise<readonly PulledEvent[]>
  /** The same claim with a new lease of full length; undefined if it is lost. */
  readonly renew: (claimed: PulledEvent) => Promise<PulledEvent | undefined>
  /** Done: the event is not handed out again. False: the claim is lost, and the event somebody else's. */
  readonly acknowledge: (claimed: PulledEvent) => Promise<boolean>
  /** Comes back after the backoff, or is dead after the last allowed claim. The reason is stored, cut to 512 bytes. */
  readonly fail: (claimed: PulledEvent, reason: string) => Promise<FailOutcome>
  /** Gives it back with its claim unspent, until `due` (ms since 1970, default now). False: the claim is lost. */
  readonly release: (claimed: PulledEvent, due?: number) => Promise<boolean>
  /**
   * Dead at once. With a note, a redrive is a later life for its handlers only; without one it concerns all. False: the
   * claim is lost.
   */
  readonly deadLetter: (claimed: PulledEvent, reason: string, note?: LifeNote) => Promise<boolean>
}

export type PullerDeps = Omit<ClaimDeps, 'region'> & {
  readonly region: () => Promise<string>
  readonly backoff: Backoff
  /** Whether the call comes from inside a `collect` of the same outbox. */
  readonly isCollecting: () => boolean
}

const LIMIT = { min: 1, max: 100, default: 1, unit: 'events' }

export function createPuller(deps: PullerDeps): Puller {
  const { clock, source, leaseMs, maxClaims, backoff } = deps

  /** False without asking for a lease that is over. */
  const change = async ({ hold }: PulledEvent, build: () => PullChange, isOurs = (_: StoredRow) => false) => {
    refuseInCollect(deps)
    if (clock.now() >= hold.lease) return false
    try {
      return await land(deps, build(), isOurs)
    } catch (cause) {
      throw unavailable('It is not known whether the answer was stored', cause)
    }
  }
  const bury = (claimed: PulledEvent, reason: string, note?: LifeNote) => {
    const { hold } = claimed
    const seen = { key: hold.key, version: versionOf(hold), claims: hold.claims }
    const grave = { ...seen, reason: failureReason(reason), at: clock.now(), ...(note === undefined ? {} : { note }) }
    return change(claimed, () => buryChange(grave))
  }
  const deadLetter: Puller['deadLetter'] = async (claimed, reason, note) => {
    const landed = await bury(claimed, reason, note)
    if (!landed) return false
    deps.telemetry.count('deadRows')
    deps.logger.error('row dead-lettered', { id: claimed.event.id })
    return true
  }

  return {
    source,
    leaseSeconds: leaseMs / 1000,
    maxClaims,
    claim: async (options = {}) => {
      refuseInCollect(deps)
      checkOptions('claim', options, ['limit'])
      const limit = inRange('limit', options.limit, LIMIT)
      return claimEvents({ ...deps, region: await deps.region() }, limit)
    },
    renew: async (claimed) => {
      const lease = clock.now() + leaseMs
      const hold = { ...claimed.hold, lease }
      const isOurs = (row: StoredRow) => row['token'] === hold.token && row['due'] === lease
      return (await change(claimed, () => renewChange(claimed.hold, lease), isOurs))
        ? { ...claimed, lease, hold }
        : undefined
    },
    acknowledge: (claimed) => {
      const expires = Math.floor(clock.now() / 1000) + KEEP_RELAYED_SECONDS
      return change(
        claimed,
        () => acknowledgeChange(claimed.hold, expires),
        (row) => isAcknowledged(row, claimed.hold),
      )
    },
    fail: async (claimed, reason) => {
      const { claims } = claimed
      if (claims >= maxClaims) return { status: (await deadLetter(claimed, reason)) ? 'dead' : 'lost' }
      const due = clock.now() + retryBackoff(claims, backoff) * 1000
      const landed = await change(claimed, () => failChange(claimed.hold, { due, reason: failureReason(reason) }))
      return landed ? { status: 'retrying', due } : { status: 'lost' }
    },
    release: (claimed, due = clock.now()) => change(claimed, () => releaseChange(claimed.hold, due)),
    deadLetter,
  }
}

/** What is written here stays written if the transaction that is being collected is never sent. */
function refuseInCollect({ isCollecting }: PullerDeps): void {
  if (!isCollecting()) return
  const message = 'Pull workers claim and answer outside of collect: each call is durable at once. Await collect first.'
  throw new OutboxError('INVALID_USE', message)
}
