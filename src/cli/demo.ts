import type { on } from '../consumer/handler.ts'
import type { redrive } from '../ops/redrive.ts'
import type { createOutbox } from '../outbox/create-outbox.ts'
import type { startLocalAws } from '../testing/local-aws.ts'
import type { LocalAws } from '../testing/local-aws-options.ts'
import type { LocalQueueInfo } from '../testing/local-queue-info.ts'
import type { waitFor } from '../testing/wait.ts'

/** What the demo takes of the installed package: the engines are not part of the command. */
export type DemoKit = {
  readonly startLocalAws: typeof startLocalAws
  readonly waitFor: typeof waitFor
  readonly createOutbox: typeof createOutbox
  readonly on: typeof on
  readonly redrive: typeof redrive
}

export type DemoFigures = {
  readonly orders: number
  /** Stream records that never reached the relay. */
  readonly dropped: number
  readonly outageSeconds: number
  readonly handled: number
  readonly lost: number
  readonly doubled: number
  readonly outOfOrder: number
  readonly deadLettered: number
  readonly redriven: number
}

export type DemoOptions = {
  readonly orders: number
  /** Hears what happens next. */
  readonly say: (text: string) => void
}

const SPEED = 25
const CUSTOMERS = 20
const WRITERS = 8
/** Each so many-th stream record is dropped. */
const DROPPED = 10
const OUTAGE_MS = 30_000
const PATIENCE_MS = 120_000
const SILENT = { info: () => {}, warn: () => {}, error: () => {} }

/** Orders through outbox, relay and consumer under faults, on embedded engines. Throws `ENGINE_MISSING` where none runs. */
export async function runDemo(kit: DemoKit, { orders, say }: DemoOptions): Promise<DemoFigures> {
  await using aws = await kit.startLocalAws({ speed: SPEED, onFunctionError: () => {} })
  const queue = await aws.createQueue('orders', { deadLetter: true })
  const shop = await openShop(kit, aws, { queue, poison: Math.floor(orders / 3) })
  say(`placing ${orders} orders of ${CUSTOMERS} customers; one of ${DROPPED} stream records is dropped`)
  const half = Math.floor(orders / 2)
  await shop.place(0, half)
  say(`SQS is down for ${OUTAGE_MS / 1000} s`)
  aws.setSqsOutage(true)
  await Promise.all([shop.place(half, orders), aws.clock.sleep(OUTAGE_MS)])
  aws.setSqsOutage(false)
  say('SQS is back; the sweeper finds what the stream has lost, and one order is poison')
  const deadLetters = aws.queue(queue.deadLetterUrl ?? '')
  await kit.waitFor(() => deadLetters.depth().visible > 0, { timeoutMs: PATIENCE_MS, describe: () => 'a dead letter' })
  await aws.idle({ timeoutMs: PATIENCE_MS })
  const deadLettered = deadLetters.depth().visible
  say('its cause is mended; it is redriven')
  shop.mend()
  const { done: redriven } = await kit.redrive(systemOf(aws, queue), { select: { all: true }, by: 'demo' })
  await aws.idle({ timeoutMs: PATIENCE_MS })
  const { different, ...counts } = shop.count()
  const lost = orders - different
  return { orders, outageSeconds: OUTAGE_MS / 1000, ...counts, lost, deadLettered, redriven }
}

type ShopOptions = { readonly queue: LocalQueueInfo; readonly poison: number }

/** Writers, relay, sweeper and consumer. The order with the number `poison` fails until it is mended. */
async function openShop(kit: DemoKit, aws: LocalAws, { queue, poison }: ShopOptions) {
  let seen = 0
  let dropped = 0
  let mended = false
  const handled: { readonly order: number; readonly customer: string; readonly sequence: number }[] = []
  const isKept = (): boolean => {
    seen += 1
    if (seen % DROPPED > 0) return true
    dropped += 1
    return false
  }
  await aws.startRelay({ queue, logger: SILENT, mapping: { faults: (records) => records.filter(isKept) } })
  aws.startSweeper({ queue, logger: SILENT })
  const handle = kit.on(
    'order.placed',
    'count',
    ({ data, group = '', sequence = 0 }) => {
      const { order } = data as { readonly order: number }
      if (order === poison && !mended) throw new Error('poison')
      handled.push({ order, customer: group, sequence })
    },
    { maxAttempts: 3 },
  )
  aws.startConsumer({ queue, name: 'demo', logger: SILENT, handlers: [handle] })
  const outbox = kit.createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: aws.clock })
  const placeOne = (order: number) => {
    const group = `customer-${order % CUSTOMERS}`
    return outbox.transact({
      events: [{ source: 'demo', type: 'order.placed', group, sequence: 'auto', data: { order } }],
    })
  }
  return {
    place: async (from: number, to: number): Promise<void> => {
      // The writers take turns, so that two of them never write to one customer.
      for (let at = from; at < to; at += WRITERS)
        await Promise.all(Array.from({ length: Math.min(WRITERS, to - at) }, (_, n) => placeOne(at + n)))
    },
    mend: (): void => {
      mended = true
    },
    count: () => {
      const different = new Set(handled.map(({ order }) => order)).size
      const last = new Map<string, number>()
      let outOfOrder = 0
      for (const { order, customer, sequence } of handled) {
        // What was redriven comes after what did not wait for it: nobody promises else.
        if (order === poison) continue
        if (sequence <= (last.get(customer) ?? 0)) outOfOrder += 1
        last.set(customer, sequence)
      }
      return { dropped, handled: handled.length, doubled: handled.length - different, outOfOrder, different }
    },
  }
}

function systemOf({ dynamo, sqs, outboxTable, ledgerTable, clock }: LocalAws, queue: LocalQueueInfo) {
  const consumer = { name: 'demo', ledgerTable, queueUrl: queue.url, deadLetterQueueUrl: queue.deadLetterUrl ?? '' }
  return { dynamo, sqs, outboxTable, consumers: [consumer], clock }
}
