import type { HandlerContext } from '../../../src/consumer/handler-context.ts'
import { isOutboxError, permanentError } from '../../../src/errors.ts'
import type { Event } from '../../../src/event/event.ts'
import { FUNCTION_MS } from '../topology.ts'
import type { EventData, Trouble } from '../workload/event-data.ts'
import type { Station } from './station.ts'

/** Shares of a function's time. */
const SLOW = 0.6
const TOO_LONG = 3

/** What goes wrong in a handler before it does its work. */
export async function meetTrouble(
  station: Station,
  trouble: Trouble | undefined,
  { attempt }: HandlerContext,
): Promise<void> {
  switch (trouble?.kind) {
    case 'fails':
      if (attempt <= (trouble.times ?? 1)) throw new Error('fails for now')
      return
    case 'poison':
      if (!station.isFixed()) throw new Error('poison until it is fixed')
      return
    case 'permanent':
      if (!station.isFixed()) throw permanentError('refused until it is fixed')
      return
    case 'slow':
      return station.trueClock.sleep(FUNCTION_MS * SLOW)
    case 'hangs':
      if (attempt === 1) await station.trueClock.sleep(FUNCTION_MS * TOO_LONG)
      return
    case 'crashes':
      if (attempt === 1) await crash()
  }
}

/** Nothing comes after it: the signal may take a moment. */
function crash(): Promise<never> {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => setInterval(() => {}, 1000))
}

/** Errors of `ctx.commit` that say nothing of the handler. */
export function isPassing(error: unknown): boolean {
  return (['CLAIM_LOST', 'TRANSACTION_BUSY', 'UNAVAILABLE', 'OUTCOME_UNKNOWN'] as const).some((code) =>
    isOutboxError(error, code),
  )
}

export function troubleOf({ data }: Event<EventData>, handler: string): Trouble | undefined {
  return data.trouble?.handler === handler ? data.trouble : undefined
}
