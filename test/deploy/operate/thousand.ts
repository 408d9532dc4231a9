import { ConfirmationRequested, OrderPlaced, SOURCE } from '../../../functions/sample/events.ts'
import { eventId } from '../../../src/event/identity.ts'
import { createOutbox, type NewEvent } from '../../../src/index.ts'
import { readQueueDepth } from '../../../src/ops/sqs-queue-depth.ts'
import { identityOf } from '../../../src/outbox/row.ts'
import { eventually } from '../eventually.ts'
import type { SampleOutputs } from '../sample.ts'
import { type Item, put, remove } from '../shop.ts'
import type { World } from '../world.ts'
import { type Doomed, dieAll } from './dead-letters.ts'
import { dead, putAll, relayed, rowsOf } from './rows.ts'

/** What is dead, and why: as `dead-letters` shows it. */
type Cause = { readonly handler: string; readonly failure: string; readonly count: number }

/** Three causes, as they would be met together: mails that are refused, no warehouse for whole groups, rows that were refused. */
export const MAIL = { handler: 'shop/send-confirmation', failure: 'the mail service refuses this address', count: 500 }
export const STOCK = { handler: 'shop/reserve-stock', failure: 'the warehouse does not answer', count: 400 }
export const ROWS = { handler: 'relay', failure: 'InvalidMessageContents', count: 100 }

/** Of the mails, those that the deployed function itself gives up. */
const REAL = 10
const CUSTOMERS = 40
const PIECES = 10_000

export type Bulk = {
  /** Orders whose confirmation is dead: in the dead-letter queue, or as a row. */
  readonly mails: readonly string[]
  /** Orders that wait for stock, by customer, each in the order of placing. */
  readonly stock: readonly (readonly string[])[]
}

/** A thousand dead letters of the three causes. Rows and entries are those of the project's own code. */
export async function dieThousandfold(world: World, outputs: SampleOutputs): Promise<Bulk> {
  const { outboxTable, shopTable } = outputs
  const mails = numbers(MAIL.count + ROWS.count).map((n) => `bulk-${n}`)
  const orders = ordersOf('bulk')
  await put(world, shopTable, { pk: 'STOCK#bulk', available: PIECES })
  const real = mails.slice(0, REAL)
  await dieForReal(world, outputs, real)
  const letters = await rowsOf(world, outboxTable, mails.slice(REAL, MAIL.count).map(confirmation))
  const placed = await rowsOf(world, outboxTable, orders.flat().map(orderPlaced))
  const refused = await rowsOf(world, outboxTable, mails.slice(MAIL.count).map(confirmation))
  await putAll(world, outboxTable, [
    ...[...letters, ...placed].map(relayed),
    ...refused.map((row) => dead(row, ROWS.failure)),
  ])
  await dieAll(world, outputs, [...letters.map((row) => doomed(row, MAIL)), ...placed.map((row) => doomed(row, STOCK))])
  for (const orderId of real) await remove(world, shopTable, `BLOCKED#${orderId}`)
  return { mails, stock: orders.map((group) => group.map(({ orderId }) => orderId)) }
}

/** Relayed rows that no handler has seen: what a replay is for. */
export async function putRelayed(world: World, { outboxTable, shopTable }: SampleOutputs): Promise<Bulk['stock']> {
  const orders = ordersOf('again').slice(0, CUSTOMERS / 2)
  await put(world, shopTable, { pk: 'STOCK#again', available: PIECES })
  const rows = await rowsOf(world, outboxTable, orders.flat().map(orderPlaced))
  await putAll(world, outboxTable, rows.map(relayed))
  return orders.map((group) => group.map(({ orderId }) => orderId))
}

/** Pieces of a bulk that are gone. */
export const piecesTaken = (items: readonly Item[], sku: 'bulk' | 'again'): number =>
  PIECES - Number(items.find(({ pk }) => pk === `STOCK#${sku}`)?.['available'])

/** Through relay, queue and function, which fail for good. */
async function dieForReal(world: World, outputs: SampleOutputs, orderIds: readonly string[]): Promise<void> {
  const { outboxTable, shopTable, deadLetterQueueUrl } = outputs
  for (const orderId of orderIds) await put(world, shopTable, { pk: `BLOCKED#${orderId}` })
  const outbox = createOutbox({ documentClient: world.dynamo, tableName: outboxTable })
  await outbox.transact({ events: orderIds.map(confirmation) })
  await eventually(
    `${orderIds.length} dead letters`,
    async () => (await readQueueDepth(world.sqs, deadLetterQueueUrl)).visible >= orderIds.length,
  )
}

function doomed(row: Item, { handler, failure }: Cause): Doomed {
  const identity = identityOf({ pk: row['pk'], sk: row['sk'] })
  if (identity === undefined) throw new Error('a row without a key of ours')
  const group = 'group' in identity ? `${SOURCE}/${identity.group}` : eventId(identity)
  return { body: row['body'], type: row['type'], group, handler: handler.split('/')[1] ?? '', reason: failure }
}

type Order = { readonly orderId: string; readonly customerId: string; readonly sku: string; readonly sequence: number }

function ordersOf(sku: string): readonly (readonly Order[])[] {
  const perCustomer = numbers(STOCK.count / CUSTOMERS)
  return numbers(CUSTOMERS).map((customer) =>
    perCustomer.map((sequence) => ({
      orderId: `${sku}-${customer}-${sequence}`,
      customerId: `${sku}-${customer}`,
      sku,
      sequence,
    })),
  )
}

function orderPlaced({ sequence, ...order }: Order): NewEvent {
  return OrderPlaced.create({ source: SOURCE, group: order.customerId, sequence, data: { ...order, quantity: 1 } })
}

function confirmation(orderId: string): NewEvent {
  const data = { orderId, customerId: 'bulk' }
  return ConfirmationRequested.create({ source: SOURCE, key: `confirmation:${orderId}`, data })
}

function numbers(to: number): readonly number[] {
  return Array.from({ length: to }, (_, n) => n + 1)
}
