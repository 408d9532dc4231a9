import type { PublishOutcome } from './publisher.ts'

/** Requests in a row, and messages in them, of which none was answered. */
const PAUSE_AFTER = 3

/** Whether a destination answers at all. One run's knowledge: the next run tries anew. */
export type Pause = {
  /** Takes note of one request. */
  readonly note: (deduplicationIds: readonly string[], outcomes: readonly PublishOutcome[]) => void
  readonly paused: () => boolean
  readonly tried: () => boolean
  /** Whether it ever took or refused an entry. */
  readonly answered: () => boolean
}

/** A destination is paused when nothing of it answers; one row that it keeps failing does not hold up the others. */
export function createPause(): Pause {
  const silent = new Set<string>()
  let silentRequests = 0
  let tried = false
  let answered = false
  let paused = false
  return {
    paused: () => paused,
    tried: () => tried,
    answered: () => answered,
    note: (deduplicationIds, outcomes) => {
      tried = true
      if (outcomes.some(({ status }) => status !== 'failed')) {
        answered = true
        silentRequests = 0
        silent.clear()
        return
      }
      silentRequests += 1
      for (const id of deduplicationIds) silent.add(id)
      paused ||= silentRequests >= PAUSE_AFTER && silent.size >= PAUSE_AFTER
    },
  }
}
