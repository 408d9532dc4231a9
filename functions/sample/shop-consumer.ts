import { type ConsumerOptions, createConsumer, on } from '../../src/consumer/index.ts'
import { ConfirmationRequested, OrderPlaced } from './events.ts'
import { createReserveStock } from './reserve-stock.ts'
import { createSendConfirmation, type Mailer } from './send-confirmation.ts'

/** One consumer with two handlers. Names of consumer and handlers are permanent: the ledger remembers under them. */
export function createShopConsumer({
  shopTable,
  mailer,
  now,
  ...deps
}: Omit<ConsumerOptions, 'name' | 'handlers'> & {
  readonly shopTable: string
  readonly mailer: Mailer
  readonly now: () => number
}) {
  return createConsumer({
    ...deps,
    name: 'shop',
    handlers: [
      on(OrderPlaced, 'reserve-stock', createReserveStock({ shopTable, now })),
      on(ConfirmationRequested, 'send-confirmation', createSendConfirmation({ mailer })),
    ],
  })
}
