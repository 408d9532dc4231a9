import { setTimeout as delay } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { redriveMessages } from '../../src/ops/index.ts'
import { audit, countDead, readBooks } from './audit.ts'
import { seededRandom } from './chance.ts'
import { createProgress, type Progress } from './progress.ts'
import { type DemoResult, isWhole, renderResult } from './report.ts'
import { countEffects, openShop, SHOP_TABLE, type Shop, stockUp } from './shop.ts'

/**
 * `npm run demo [-- --orders N] [--seed S] [--json]`: the sample shop on embedded engines, under faults. Places orders of
 * 60 customers while stream records are dropped, doubled and shuffled, SQS is down for some seconds, the consumer is killed
 * in mid-handler, and one event is poison until its cause is fixed. Then reads the tables and counts. Exit 1 if an event
 * was lost, doubled or out of order.
 */

const CUSTOMERS = 60
const SKUS = 20
const WRITERS = 6
const OUTAGE_MS = 4000
/** Longest wait for everything to be handled. */
const PATIENCE_MS = 150_000

type Order = Parameters<Shop['placeOrder']>[0]

async function main(): Promise<void> {
  const { orders: count, seed, json } = readArguments()
  const started = performance.now()
  const random = seededRandom(seed)
  const orders = Array.from({ length: count }, (_, n) => ({
    orderId: `order-${n}`,
    customerId: `customer-${Math.floor(random() * CUSTOMERS)}`,
    sku: `sku-${Math.floor(random() * SKUS)}`,
    quantity: 1,
  }))
  const at = (share: number): string => orders[Math.floor(count * share)]?.orderId ?? ''
  const poison = at(0.3)
  const progress = createProgress(count * 3)
  const shop = await openShop({ random, killAfterMail: [at(0.2), at(0.5), at(0.7)] })
  try {
    // Too little for all: some orders are rejected, in the order in which they were placed.
    const perSku = Math.ceil((count / SKUS) * 0.9)
    await stockUp(shop.aws, Object.fromEntries(Array.from({ length: SKUS }, (_, n) => [`sku-${n}`, perSku])))
    await block(shop, poison)
    const stopWatching = watch(shop, progress)
    progress.say('placing orders; stream records are dropped, doubled and shuffled')
    await placeAll(shop, orders, progress)
    progress.say('everything is placed; retries run, and the poison event spends its attempts')
    await shop.aws.idle({ timeoutMs: PATIENCE_MS })
    const deadLettered = countDead(await readBooks(shop.aws))
    progress.say('the cause of the dead letter is fixed; it is redriven')
    await unblock(shop, poison)
    await redriveMessages(shop.queues, () => true)
    await shop.aws.idle({ timeoutMs: PATIENCE_MS })
    await stopWatching()
    const figures = audit(await readBooks(shop.aws), perSku * SKUS)
    const seconds = Math.round((performance.now() - started) / 100) / 10
    const {
      orders: placed,
      events,
      delivered,
      lost,
      doubled,
      outOfOrder,
      redriven,
      duplicatesSuppressed,
      ...latency
    } = figures
    const result = {
      orders: placed,
      events,
      delivered,
      lost,
      doubled,
      outOfOrder,
      deadLettered,
      redriven,
      duplicatesSuppressed,
      seconds,
      ...latency,
    }
    progress.end()
    process.stdout.write(json ? `${JSON.stringify(result)}\n` : renderResult(result, seed))
    process.exitCode = isWhole(result satisfies DemoResult) ? 0 : 1
  } finally {
    progress.end()
    await shop.aws.stop()
  }
}

function readArguments(): { readonly orders: number; readonly seed: number; readonly json: boolean } {
  const { values } = parseArgs({
    options: {
      orders: { type: 'string', default: '1000' },
      seed: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
    },
  })
  const whole = (name: 'orders' | 'seed', min: number): number => {
    const value = Number(values[name])
    if (Number.isSafeInteger(value) && value >= min) return value
    throw new Error(`--${name} must be a whole number from ${min}.`)
  }
  return { orders: whole('orders', 10), seed: whole('seed', 0), json: values.json }
}

/** A few writers side by side; SQS goes down on the way. */
async function placeAll(shop: Shop, orders: readonly Order[], progress: Progress): Promise<void> {
  const queue = orders.entries()
  const outageAt = Math.floor(orders.length * 0.4)
  const killAt = Math.floor(orders.length * 0.8)
  const write = async (): Promise<void> => {
    for (const [n, order] of queue) {
      if (n === outageAt) breakSqs(shop, progress)
      if (n === killAt) shop.consumer.kill()
      await shop.placeOrder(order)
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
}

function breakSqs({ aws }: Shop, progress: Progress): void {
  progress.say('SQS is down for some seconds')
  aws.setSqsOutage(true)
  setTimeout(() => {
    aws.setSqsOutage(false)
    progress.say('SQS is back')
  }, OUTAGE_MS)
}

async function block({ aws }: Shop, orderId: string): Promise<void> {
  await aws.dynamo.send(new PutItemCommand({ TableName: SHOP_TABLE, Item: { pk: { S: `BLOCKED#${orderId}` } } }))
}

async function unblock({ aws }: Shop, orderId: string): Promise<void> {
  await aws.dynamo.send(new DeleteItemCommand({ TableName: SHOP_TABLE, Key: { pk: { S: `BLOCKED#${orderId}` } } }))
}

/** Keeps the bar up to date, about each second, until the function it gives is called. */
function watch({ aws }: Shop, { isShown, set }: Progress): () => Promise<void> {
  const stopped = new AbortController()
  const look = async (): Promise<void> => {
    while (isShown && !stopped.signal.aborted) {
      set(await countEffects(aws))
      await delay(1000, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }
  const looking = look()
  return () => {
    stopped.abort()
    return looking
  }
}

await main()
