import { OutboxError } from '../errors.ts'
import type { NewEvent } from '../event/event.ts'
import { invalidSetting } from '../settings.ts'

/** What a function adds to one transaction. Nothing is sent before the outermost `collect` ends. */
export type Collector<Write> = {
  /** Adds actions, in the form of the outbox's client. */
  readonly write: (...writes: readonly Write[]) => void
  /** Adds events. They are checked when the transaction is sent. */
  readonly enqueue: (...events: readonly NewEvent[]) => void
  /**
   * Joins this transaction: what `work` adds is added at its end; if it throws, only that is dropped. Must be awaited
   * before the outer function ends.
   */
  readonly collect: <Result>(work: (tx: Collector<Write>) => Promise<Result> | Result) => Promise<Result>
}

export type Collected<Write, Result> = {
  readonly writes: readonly Write[]
  readonly events: readonly NewEvent[]
  readonly result: Result
}

type Work<Write, Result> = (tx: Collector<Write>) => Promise<Result> | Result

/**
 * Runs `work` and returns what it has added. Rejects with its error if it throws, and with `INVALID_USE` if it ends while
 * an inner `collect` still runs. Used after its end, `tx` throws `INVALID_USE`: nothing can leave the transaction unseen.
 */
export async function gather<Write, Result>(work: Work<Write, Result>): Promise<Collected<Write, Result>> {
  if (typeof work !== 'function') throw invalidSetting('collect', 'must be given a function')
  const writes: Write[] = []
  const events: NewEvent[] = []
  let open = true
  let inner = 0
  const use = () => {
    if (!open)
      throw new OutboxError(
        'INVALID_USE',
        'This tx has ended, so nothing can be added to it. Await all work inside collect.',
      )
  }
  const tx: Collector<Write> = {
    write: (...added) => {
      use()
      writes.push(...added)
    },
    enqueue: (...added) => {
      use()
      events.push(...added)
    },
    collect: async (innerWork) => {
      use()
      inner++
      try {
        const added = await gather(innerWork)
        use()
        writes.push(...added.writes)
        events.push(...added.events)
        return added.result
      } finally {
        inner--
      }
    },
  }
  try {
    const result = await work(tx)
    if (inner === 0) return { writes, events, result }
    throw new OutboxError(
      'INVALID_USE',
      'Nothing was sent: an inner collect was still running when the outer one ended. Await it.',
    )
  } finally {
    open = false
  }
}
