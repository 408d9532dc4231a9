import { type Backoff, retryBackoff } from '../backoff.ts'
import type { Entry, EntryKey } from './entry.ts'

/** Who wants to run which handler for which round of which event. */
export type ClaimRequest = EntryKey & {
  /** Round of the message at hand, ms since 1970. A later one than the row's starts an ended row anew. */
  readonly life: number
  /** When the claim shall lapse, ms since 1970: after the process can no longer be running. */
  readonly lease: number
  /** Whether nothing else of this invocation runs or will run beside it. */
  readonly alone: boolean
  /** Attempts that end in dead-lettering. 1–100. */
  readonly maxAttempts: number
  readonly backoff: Backoff
}

/** What a claim writes, beside a token and an expiry of its own. */
export type ClaimedState = Pick<Entry, 'attempts' | 'life'> & { readonly status: 'running' | 'alone' }

/** A row that has spent its attempts: it runs no more, and is copied to the dead-letter queue before it is marked dead. */
export type Exhausted = Pick<Entry, 'id' | 'name' | 'token' | 'status' | 'attempts' | 'life'> & {
  readonly failure: string
}

/** From whom a claim was taken: one that lapsed beside others, or one that crashed alone and so spent an attempt. */
export type TakenOver = 'lapsed' | 'crashed'

export type ClaimDecision =
  /** Write this, if the row still is as it was seen. */
  | { readonly action: 'take'; readonly state: ClaimedState; readonly takenOver?: TakenOver }
  /** Ended in this life or a later one: nothing to run. */
  | { readonly action: 'skip'; readonly status: 'done' | 'dead' }
  /** Somebody runs it, or it waits for its next try. Nothing is spent. `until` in ms since 1970. */
  | { readonly action: 'defer'; readonly until: number }
  /** It may only run alone, once all else of the batch is settled; those with the fewest own crashes first. */
  | { readonly action: 'wait-alone'; readonly crashes: number }
  | { readonly action: 'exhausted'; readonly exhausted: Exhausted }

const CRASHED = 'the process ended while only this handler was running'
const UNKNOWN_FAILURE = 'no reason stored'

/**
 * Decides what a worker may do with a row as it stands. Pure; the write that follows holds only if the row's token and
 * status are still the ones seen here.
 *
 *     (absent, expired) ──▶ running ──▶ done ──(later life)──▶ running
 *                             │  ▲ └──▶ failed ──(due)──▶ running
 *            lapsed, its turn │  └ release   └──(at the limit)──▶ copied to the DLQ ──▶ dead ──(later life)──▶ running
 *                             ▼
 *                           alone ──(lapsed: its own crash, one attempt)──▶ alone, or at the limit
 */
export function decideClaim(entry: Entry | undefined, request: ClaimRequest, now: number): ClaimDecision {
  const { life } = request
  const anew = startAnew(request)
  if (entry === undefined || entry.expires * 1000 <= now) return anew
  const later = life > entry.life
  switch (entry.status) {
    case 'done':
    case 'dead':
      return later ? anew : { action: 'skip', status: entry.status }
    case 'failed':
      if (entry.attempts >= request.maxAttempts) return later ? anew : exhausted(entry, entry.attempts)
      return retry(entry, request, now)
    case 'running':
      return entry.lease > now ? { action: 'defer', until: entry.lease } : takeOver(entry, request, entry.attempts)
    case 'alone':
      return entry.lease > now ? { action: 'defer', until: entry.lease } : afterCrash(entry, request, now)
  }
}

function startAnew({ life }: ClaimRequest): ClaimDecision {
  return { action: 'take', state: { status: 'running', attempts: 0, life } }
}

function retry(entry: Entry, request: ClaimRequest, now: number): ClaimDecision {
  if (entry.due > now) return { action: 'defer', until: entry.due }
  return { action: 'take', state: { status: 'running', attempts: entry.attempts, life: laterLife(entry, request) } }
}

/** A crash that only this handler can have caused: it counts as a failure at the lease's end, and waits like one. */
function afterCrash(entry: Entry, request: ClaimRequest, now: number): ClaimDecision {
  const attempts = entry.attempts + 1
  if (attempts >= request.maxAttempts)
    return request.life > entry.life ? startAnew(request) : exhausted({ ...entry, failure: CRASHED }, attempts)
  const due = entry.lease + retryBackoff(attempts, request.backoff) * 1000
  return due > now ? { action: 'defer', until: due } : takeOver(entry, request, attempts)
}

/** A lapsed claim runs again only alone: whichever of the batch crashed the process shows itself, and nobody else pays. */
function takeOver(entry: Entry, request: ClaimRequest, attempts: number): ClaimDecision {
  if (!request.alone) return { action: 'wait-alone', crashes: attempts }
  const takenOver = entry.status === 'alone' ? 'crashed' : 'lapsed'
  return { action: 'take', state: { status: 'alone', attempts, life: laterLife(entry, request) }, takenOver }
}

function exhausted(entry: Entry, attempts: number): ClaimDecision {
  const { id, name, token, status, life, failure = UNKNOWN_FAILURE } = entry
  return { action: 'exhausted', exhausted: { id, name, token, status, attempts, life, failure } }
}

/** A message of an older life than the row's is a second carrier of the same work; it never takes the row back. */
function laterLife(entry: Entry, request: ClaimRequest): number {
  return Math.max(entry.life, request.life)
}
