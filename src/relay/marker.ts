import { jitter } from '../backoff.ts'
import type { Clock } from '../clock.ts'
import { errorName } from '../errors.ts'
import { keyText, type RowKey } from '../outbox/row.ts'
import { createPool } from '../pool.ts'
import type { Logger, Telemetry } from '../telemetry.ts'
import type { PendingRow } from './row-image.ts'
import type { Mark, MarkAnswer, RowStore } from './row-store.ts'
import type { TimeBudget } from './time-budget.ts'

/** Statements that one BatchExecuteStatement may hold. */
const MARKS_PER_REQUEST = 25
const CONCURRENT_REQUESTS = 8
/** Requests in which a mark may fail before the sweeper gets the row. */
const MARK_TRIES = 3

/** Marks rows as relayed, 25 a request. */
export type Marker = {
  /**
   * Marks a row that every destination has. True once it is no longer pending in this round, whoever moved it; false if
   * the mark failed: the row is then sent again, and the duplicate changes nothing. Resolves when 25 are together, or
   * after `flush`. Never rejects.
   */
  readonly mark: (row: PendingRow) => Promise<boolean>
  /** Sends what is gathered; resolves when every mark so far has an answer. */
  readonly flush: () => Promise<void>
  /** Whether a mark of this row has failed in this run. */
  readonly failed: (key: RowKey) => boolean
}

export type MarkerOptions = {
  readonly store: RowStore
  readonly clock: Clock
  readonly budget: TimeBudget
  readonly telemetry: Telemetry
  readonly logger: Logger
  /** How long a relayed row is kept. */
  readonly keepSeconds: number
}

type Waiting = { readonly mark: Mark; readonly settle: (gone: boolean) => void; readonly settled: Promise<boolean> }

export function createMarker(options: MarkerOptions): Marker {
  const { clock, telemetry, keepSeconds } = options
  const pool = createPool(CONCURRENT_REQUESTS)
  const requests = new Set<Promise<void>>()
  /** By key: one request must not name a row twice. */
  let gathered = new Map<string, Waiting>()
  const failed = new Set<string>()

  const send = (): void => {
    if (gathered.size === 0) return
    const marks = [...gathered.values()]
    gathered = new Map()
    const request = pool.run(() => sendMarks(marks))
    requests.add(request)
    void request.finally(() => requests.delete(request))
  }
  const sendMarks = async (marks: readonly Waiting[]): Promise<void> => {
    let open = marks
    for (let tries = 1; open.length > 0; tries += 1) {
      const answers = await ask(
        options,
        open.map(({ mark }) => mark),
      )
      const last = tries === MARK_TRIES
      open = open.filter((waiting, index) => !settle(waiting, answers[index] ?? 'failed', last))
      if (open.length > 0) await clock.sleep(jitter(tries, clock.random))
    }
  }
  const settle = ({ mark, settle }: Waiting, answer: MarkAnswer, last: boolean): boolean => {
    if (answer === 'busy' && !last) return false
    const moved = answer === 'landed' || answer === 'gone'
    if (answer === 'landed') telemetry.count('relayed')
    if (!moved) {
      telemetry.count('markFailed')
      failed.add(keyText(mark))
    }
    settle(moved)
    return true
  }
  return {
    mark: (row) => {
      const name = keyText(row)
      const known = gathered.get(name)
      if (known !== undefined) return known.settled
      const { promise: settled, resolve } = Promise.withResolvers<boolean>()
      const expires = Math.floor(clock.now() / 1000) + keepSeconds
      const { pk, sk, shard, redrives, redrivesStored } = row
      gathered.set(name, { mark: { pk, sk, shard, redrives, redrivesStored, expires }, settle: resolve, settled })
      if (gathered.size >= MARKS_PER_REQUEST) send()
      return settled
    },
    flush: async () => {
      send()
      await Promise.all(requests)
    },
    failed: (key) => failed.has(keyText(key)),
  }
}

/** An error of the whole request, an answer that was lost included, may pass: the condition makes a second try safe. */
async function ask({ store, budget, logger }: MarkerOptions, marks: readonly Mark[]): Promise<readonly MarkAnswer[]> {
  try {
    return await budget.call((signal) => store.markRelayed(marks, signal))
  } catch (error) {
    logger.warn('marks not answered', { marks: marks.length, reason: errorName(error) })
    return marks.map(() => 'busy')
  }
}
