import { jitter } from '../backoff.ts'
import type { Clock } from '../clock.ts'
import { errorName, OutboxError } from '../errors.ts'
import type { PullChange, PullStore, StoredRow } from './pull-store.ts'

/** How often a change is sent that is not answered. The client has tried several times each. */
const MAX_TRIES = 3

/**
 * Sends a change until it is answered: true if it has landed. A refusal by our own earlier try is a success:
 *
 *     us  ── write (token t) ──▶ landed, answer lost
 *     us  ── write (token t) ──▶ refused, the row shows what t wrote ⇒ landed
 *
 * Throws the last error if the table does not answer: the change may have landed.
 */
export async function land(
  { store, clock }: { readonly store: PullStore; readonly clock: Clock },
  change: PullChange,
  isOurs: (row: StoredRow) => boolean,
): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      const answer = await store.change(change)
      return answer.status === 'landed' || (answer.row !== undefined && isOurs(answer.row))
    } catch (error) {
      if (tries === MAX_TRIES) throw error
      await clock.sleep(jitter(tries, clock.random, { firstMs: 100 }))
    }
  }
}

/** What a worker is told when the table did not answer. `what`: what is not known to have happened. */
export function unavailable(what: string, cause: unknown): OutboxError {
  const reason = errorName(cause)
  const message = `${what}: the outbox table did not answer (${reason}). Try again later.`
  return new OutboxError('UNAVAILABLE', message, { details: { reason }, cause })
}
