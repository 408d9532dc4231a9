import { eachAtOnce } from '../pool.ts'
import type { Unsettled } from './batch.ts'
import type { ConsumerQueue, VisibilityEntry, VisibilityOutcome } from './consumer-queue.ts'
import type { Message } from './message.ts'

/** `ChangeMessageVisibilityBatch` takes ten. */
const MAX_ENTRIES = 10
/** A batch of a standard queue may hold thousands; all at once would crowd out the ledger's connections. */
const MAX_CONCURRENT_REQUESTS = 10
/** SQS allows 12 hours from the receive on; the rest is left for the time since then. Seconds. */
const MAX_VISIBILITY_SECONDS = 12 * 3600 - 1000
/** A redelivery right after a lease's end finds it lapsed, though clocks differ. ms */
const AFTER_LEASE_MS = 2000

/**
 * Hides the whole batch until shortly after its claims lapse, so that a crash blocks it for seconds, while a function that
 * cannot even start waits the queue's own long time. Answers which messages are not ours to run: their handle was refused, or
 * they have no id to be known by in ledger and answer.
 */
export async function holdMessages(
  queue: ConsumerQueue,
  messages: readonly Message[],
  leaseLeftMs: number,
): Promise<ReadonlySet<Message>> {
  const seconds = secondsUntil(leaseLeftMs + AFTER_LEASE_MS, 0)
  const outcomes = await setAll(
    queue,
    messages.map((message) => ({ message, seconds })),
  )
  return new Set(messages.filter(({ messageId }, n) => messageId === '' || outcomes[n] === 'lost'))
}

/** Sets when each kept message comes back. What fails comes back when the claims of this batch lapse. */
export async function giveBack(queue: ConsumerQueue, unsettled: readonly Unsettled[], now: number): Promise<void> {
  const entries = unsettled.flatMap(({ message, due }) =>
    due === undefined ? [] : [{ message, seconds: secondsUntil(due, now) }],
  )
  await setAll(queue, entries)
}

/** Whole seconds, rounded up: never early. */
export function secondsUntil(due: number, now: number): number {
  return Math.min(MAX_VISIBILITY_SECONDS, Math.max(0, Math.ceil((due - now) / 1000)))
}

type Setting = { readonly message: Message; readonly seconds: number }

async function setAll(queue: ConsumerQueue, settings: readonly Setting[]): Promise<readonly VisibilityOutcome[]> {
  const requests = Array.from({ length: Math.ceil(settings.length / MAX_ENTRIES) }, (_, n) =>
    settings.slice(n * MAX_ENTRIES, (n + 1) * MAX_ENTRIES),
  )
  const answers = new Map<readonly Setting[], readonly VisibilityOutcome[]>()
  await eachAtOnce(requests, MAX_CONCURRENT_REQUESTS, async (request) => {
    answers.set(request, await setSome(queue, request))
  })
  return requests.flatMap((request) => request.map((_, n) => answers.get(request)?.[n] ?? 'failed'))
}

/** A queue that throws, against its promise, has set nothing: the messages keep the visibility they had. */
async function setSome(queue: ConsumerQueue, settings: readonly Setting[]): Promise<readonly VisibilityOutcome[]> {
  const entries: VisibilityEntry[] = settings.map(({ message: { receiptHandle }, seconds }) => ({
    receiptHandle,
    seconds,
  }))
  try {
    return (await queue.setVisibility(settings[0]?.message.queueArn ?? '', entries)) ?? []
  } catch {
    return []
  }
}
