import { jitter } from '../backoff.ts'
import type { Clock } from '../clock.ts'
import { errorName } from '../errors.ts'
import type { Logger, Telemetry } from '../telemetry.ts'
import { createPause } from './pause.ts'
import { type Packable, planRequests } from './plan-requests.ts'
import type { OutgoingMessage, Publisher, PublishOutcome } from './publisher.ts'
import type { TimeBudget } from './time-budget.ts'

/** Requests under way at once to one destination: with 1 MiB each, and their copies in the SDK, far below 256 MB. */
const CONCURRENT_REQUESTS = 10
/** Requests in which an entry may fail before its row is left. */
const SEND_TRIES = 3

/** `unsent`: not given to the destination, because of the time, a read that is too old, or a pause. */
export type SendOutcome = PublishOutcome | { readonly status: 'unsent'; readonly reason: 'time' | 'stale' | 'paused' }

/** Sends to one destination during one run. */
export type Sender = {
  readonly name: string
  /** Never throws. `notAfter` (ms): from then on the read that the message comes from is too old to be sent. */
  readonly send: (message: OutgoingMessage, notAfter: number) => Promise<SendOutcome>
  /** True once the destination did not answer; until the end of the run it gets nothing more. */
  readonly paused: () => boolean
  /** Whether it got any request, and whether it ever took or refused an entry. */
  readonly tried: () => boolean
  readonly answered: () => boolean
}

export type SenderOptions = {
  readonly publisher: Publisher
  readonly clock: Clock
  readonly budget: TimeBudget
  readonly telemetry: Telemetry
  readonly logger: Logger
}

type Entry = Packable & {
  readonly message: OutgoingMessage
  readonly notAfter: number
  readonly settle: (outcome: SendOutcome) => void
  /** Requests in which it failed. */
  readonly failures: number
}

type Failure = { readonly entry: Entry; readonly reason: string }

/**
 * Gathers what is ready in one turn of the event loop and packs it into few full requests: lanes that wait for each
 * other's answers come together by themselves, without a timer. Entries of one group are in flight one at a time.
 */
export function createSender({ publisher, clock, budget, telemetry, logger }: SenderOptions): Sender {
  const pause = createPause()
  /** Groups with an entry in flight or waiting for its next try. */
  const busy = new Set<string>()
  let ready: Entry[] = []
  let inFlight = 0
  let scheduled = false

  const schedule = (): void => {
    if (!scheduled) setImmediate(flush)
    scheduled = true
  }
  const flush = (): void => {
    scheduled = false
    // Whichever request is answered next comes back here.
    if (inFlight === CONCURRENT_REQUESTS) return
    const now = clock.now()
    const end = pause.paused() ? 'paused' : budget.over() ? 'time' : undefined
    ready = ready.filter((entry) => isWanted(entry, end ?? (now > entry.notAfter ? 'stale' : undefined)))
    const { maxEntries, maxBytes } = publisher
    const limits = { maxEntries, maxBytes, maxRequests: CONCURRENT_REQUESTS - inFlight }
    const { requests, rest } = planRequests(ready, limits, busy)
    ready = [...rest]
    for (const entries of requests) void request(entries)
  }
  const isWanted = (entry: Entry, unsent: 'time' | 'stale' | 'paused' | undefined): boolean => {
    if (unsent !== undefined) entry.settle({ status: 'unsent', reason: unsent })
    return unsent === undefined
  }
  const request = async (entries: readonly Entry[]): Promise<void> => {
    inFlight += 1
    for (const { groupId } of entries) busy.add(groupId)
    const outcomes = await publishAll(publisher, budget, entries)
    inFlight -= 1
    const wasPaused = pause.paused()
    pause.note(
      entries.map(({ message }) => message.deduplicationId),
      outcomes,
    )
    const failures = entries.flatMap((entry, index) => settleAnswer(entry, outcomes[index]))
    if (pause.paused() && !wasPaused) {
      logger.warn('destination does not answer: paused for this run', {
        destination: publisher.name,
        reason: failures[0]?.reason,
      })
    }
    if (failures.length > 0) void retry(failures)
    schedule()
  }
  const settleAnswer = (entry: Entry, outcome: PublishOutcome | undefined): Failure[] => {
    if (outcome === undefined || outcome.status === 'failed') return [{ entry, reason: outcome?.reason ?? NO_OUTCOME }]
    telemetry.count(outcome.status === 'accepted' ? 'sent' : 'refused')
    release(entry, outcome)
    return []
  }
  const retry = async (failures: readonly Failure[]): Promise<void> => {
    const again = failures.filter(({ entry }) => entry.failures + 1 < SEND_TRIES && !pause.paused())
    giveUp(failures.filter((failure) => !again.includes(failure)))
    if (again.length === 0) return
    const tries = Math.max(...again.map(({ entry }) => entry.failures)) + 1
    await clock.sleep(jitter(tries, clock.random, { firstMs: 200, capMs: 2000 }))
    for (const { entry } of again) busy.delete(entry.groupId)
    ready.unshift(...again.map(({ entry }) => ({ ...entry, failures: entry.failures + 1 })))
    schedule()
  }
  const giveUp = (failures: readonly Failure[]): void => {
    if (failures.length === 0) return
    telemetry.count('sendFailed', failures.length)
    const reasons = [...new Set(failures.map(({ reason }) => reason))]
    logger.warn('entries not accepted', { destination: publisher.name, entries: failures.length, reasons })
    for (const { entry, reason } of failures) release(entry, { status: 'failed', reason })
  }
  const release = (entry: Entry, outcome: SendOutcome): void => {
    busy.delete(entry.groupId)
    entry.settle(outcome)
  }
  return {
    name: publisher.name,
    paused: pause.paused,
    tried: pause.tried,
    answered: pause.answered,
    send: (message, notAfter) =>
      new Promise((settle) => {
        const { groupId } = message
        ready.push({ message, notAfter, settle, groupId, bytes: sizeOf(publisher, message), failures: 0 })
        schedule()
      }),
  }
}

const NO_OUTCOME = 'no outcome given'

/** Publishers may be anyone's: a message whose size is not said travels alone, as a large one does. */
function sizeOf(publisher: Publisher, message: OutgoingMessage): number {
  try {
    const bytes: unknown = publisher.sizeOf(message)
    return typeof bytes === 'number' && bytes >= 0 ? bytes : Number.POSITIVE_INFINITY
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

/** One outcome per entry, whatever the publisher does: an error or a missing outcome is a failure to send. */
async function publishAll(
  publisher: Publisher,
  budget: TimeBudget,
  entries: readonly Entry[],
): Promise<readonly PublishOutcome[]> {
  const messages = entries.map(({ message }) => message)
  try {
    const outcomes = await budget.call((signal) => publisher.publish(messages, signal))
    return entries.map((_, index) => readOutcome(outcomes[index]))
  } catch (error) {
    return entries.map(() => ({ status: 'failed', reason: errorName(error) }))
  }
}

/** Only what is clearly accepted or refused is taken for that. */
function readOutcome(
  given: { readonly status?: unknown; readonly reason?: unknown } | null | undefined,
): PublishOutcome {
  if (given?.status === 'accepted') return { status: 'accepted' }
  const reason = typeof given?.reason === 'string' ? given.reason : NO_OUTCOME
  return { status: given?.status === 'refused' ? 'refused' : 'failed', reason }
}
