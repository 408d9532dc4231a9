import type { HandlerContext } from '../../src/consumer/index.ts'
import type { Event } from '../../src/index.ts'

/** A mail service that sends at most one mail for one idempotency key, as the well-known ones do. */
export type Mailer = {
  readonly send: (mail: { readonly orderId: string; readonly idempotencyKey: string }) => Promise<void>
}

/**
 * An effect outside the database cannot be in a transaction: it happens at least once. The event's id, the same on every
 * delivery, lets the mail service drop the second one.
 */
export function createSendConfirmation({ mailer }: { readonly mailer: Mailer }) {
  return async ({ data: { orderId } }: Event<{ orderId: string }>, ctx: HandlerContext): Promise<void> => {
    await mailer.send({ orderId, idempotencyKey: ctx.idempotencyKey })
  }
}
