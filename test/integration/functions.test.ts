import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { consumerEnvironment, relayEnvironment } from '../../src/settings.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import type { LocalAws } from '../../src/testing/local-aws-options.ts'
import type { LocalQueueInfo } from '../../src/testing/local-queue-info.ts'
import { processFunction } from '../../src/testing/process-function.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { bundleFunctions } from '../support/bundle-functions.ts'
import { createSampleShop, type SampleShop } from '../support/sample-shop.ts'

/** The functions as they are deployed: relay and sweeper bundled, each in a process of its own, told all by its environment. */

const GRACE_MS = 120_000
const QUIET = { POWERTOOLS_METRICS_DISABLED: 'true', POWERTOOLS_LOG_LEVEL: 'SILENT' }
let out: string
let sizes: string
let aws: LocalAws
let orders: LocalQueueInfo
let shop: SampleShop

beforeAll(async () => {
  out = await mkdtemp(join(tmpdir(), 'outbox-functions-'))
  sizes = await bundleFunctions(out)
  // The end kills what still runs, which is no news.
  aws = await startLocalAws({ onFunctionError: () => {} })
  orders = await aws.createQueue('orders', { deadLetter: true })
  shop = await createSampleShop(aws.dynamo, 'shop')
})
afterAll(async () => {
  await aws.stop()
  await rm(out, { recursive: true, force: true })
})
afterEach(() => vi.unstubAllEnvs())

const bundled = (name: string) =>
  processFunction({ module: join(out, name, 'index.mjs'), env: { ...relaySettings(), ...QUIET } })
const sample = (name: string, env: Record<string, string>) =>
  processFunction({
    module: join(import.meta.dirname, '../../functions/sample', `${name}.ts`),
    env: { ...env, ...QUIET, SHOP_TABLE: 'shop' },
  })

function relaySettings(): Record<string, string> {
  const to = [{ kind: 'sqs', name: 'orders', url: orders.url }] as const
  return relayEnvironment({ tableName: aws.outboxTable, routes: [{ source: 'shop', to }] })
}

function consumerSettings({ url, deadLetterUrl = '' }: LocalQueueInfo): Record<string, string> {
  return consumerEnvironment({ ledgerTable: aws.ledgerTable, queueUrl: url, deadLetterQueueUrl: deadLetterUrl })
}

describe('the functions as they are deployed', () => {
  it('are bundled within the budget of their size', () => {
    expect(sizes).toMatch(/^relay\/index\.mjs: [\d.]+ kB, gzip [\d.]+ kB\nsweeper\/.*\nrelay: [\d.]+ kB gzip above/)
  })

  it('the sweeper sends what the stream path has missed', async () => {
    const sweeper = aws.schedule({ name: 'sweeper', everyMs: 1000, timeoutMs: 30_000, handler: bundled('sweeper') })
    const late = { ...aws.clock, now: () => aws.clock.now() - GRACE_MS - 1000 }
    const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable, clock: late })
    await outbox.transact({ events: [{ source: 'shop', type: 'note', key: 'missed', data: 1 }] })
    await waitFor(() => aws.queue(orders.url).depth().visible === 1, { timeoutMs: 15_000 })
    await sweeper.stop()
    aws.queue(orders.url).purge()
  })

  it('an order is placed, relayed, handled and confirmed', { timeout: 40_000 }, async () => {
    vi.stubEnv('OUTBOX_TABLE', aws.outboxTable)
    vi.stubEnv('SHOP_TABLE', 'shop')
    for (const [name, value] of Object.entries({ ...aws.env, ...QUIET })) vi.stubEnv(name, value)
    await shop.stockUp('tea', 3)
    await aws.startRelay({ handler: bundled('relay') })
    const code = sample('shop-function', { ...consumerSettings(orders), OUTBOX_TABLE: aws.outboxTable })
    aws.startConsumer({ queue: orders, consumer: code })

    const placeOrder = await import('../../functions/sample/place-order-function.ts')
    const order = { orderId: 'o-1', customerId: 'ann', sku: 'tea', quantity: 2 }
    const context = { functionName: 'place-order', getRemainingTimeInMillis: () => 30_000 } as never
    expect(await placeOrder.handler(order, context)).toEqual({ placed: true })
    expect(await placeOrder.handler(order, context)).toEqual({ placed: false })

    const mail = await waitFor(
      async () => {
        const items = await shop.scan('shop')
        const found = items.find(({ pk }) => String(pk).startsWith('MAIL#'))
        return items.some(({ outcome }) => outcome === 'reserved') && found
      },
      { timeoutMs: 30_000 },
    )
    expect(mail).toMatchObject({ orderId: 'o-1', asked: 1 })
  })

  it('shipping prepares the parcel once of an event that the bus brings twice', { timeout: 40_000 }, async () => {
    const queue = await aws.createQueue('shipping', { fifo: false, deadLetter: true })
    const event = { source: 'shop', type: 'stock.reserved', key: 'stock:o-9', data: { orderId: 'o-9', sku: 'tea' } }
    const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable })
    await outbox.transact({ events: [event] })
    const [row] = (await shop.scan(aws.outboxTable)).filter(({ pk }) => pk === 'K#shop/stock:o-9')
    const detail: unknown = JSON.parse(String(row?.['body']))
    const MessageBody = JSON.stringify({ version: '0', id: 'e', 'detail-type': event.type, source: 'shop', detail })
    for (let n = 0; n < 2; n += 1) await aws.sqs.send(new SendMessageCommand({ QueueUrl: queue.url, MessageBody }))
    const consumer = aws.startConsumer({ queue, consumer: sample('shipping-function', consumerSettings(queue)) })
    await waitFor(
      () => {
        const { visible, invisible } = aws.queue(queue.url).depth()
        return visible + invisible === 0
      },
      { timeoutMs: 30_000 },
    )
    expect(await shop.item('PARCEL#o-9')).toMatchObject({ sku: 'tea', prepared: 1 })
    await consumer.stop()
  })
})
