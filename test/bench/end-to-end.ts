import { setTimeout as delay } from 'node:timers/promises'
import { on } from '../../src/consumer/handler.ts'
import type { NewEvent } from '../../src/event/event.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import { SOURCE, TYPE } from './event-rows.ts'
import type { Figure } from './figure.ts'
import type { Part, Say } from './part.ts'
import { median, spread } from './rounds.ts'

const GROUPS = [1, 10, 100] as const
/** Writers side by side; each group has one, so that its numbers are committed in order. */
const WRITERS = 16
/** Committed and not yet handled, at most: the backlog stays small, and what is measured is the flow. */
const UNDER_WAY = 300
/** The flow is looked at for that many windows in a row. ms */
const WINDOWS = 5
const WINDOW_MS = 1000
const WARM_UP_MS = 1500
/** Events at an even pace, far below what the engines take, and the ms between two. */
const PACED = 200
const PACE_MS = 20

const silent = { info: () => {}, warn: () => {}, error: () => {} }

/**
 * The whole way on the embedded engines in real time: from the call that commits an event to its handler. Engines, event
 * sources, relay and consumer share this machine, and its process: figures to compare with themselves, not AWS's.
 */
export const measureEndToEnd: Part = async (say) => {
  const figures: Figure[] = []
  for (const groups of GROUPS) figures.push(...(await measureGroups(groups, say)))
  return figures
}

async function measureGroups(groups: number, say: Say): Promise<Figure[]> {
  const shop = await openShop(groups)
  try {
    say(`${groups} groups: as fast as events are taken`)
    const rates = await flow(shop)
    say(`${groups} groups: one event each ${PACE_MS} ms`)
    return figuresOf(groups, { rates, latencies: await pace(shop) })
  } finally {
    await shop.stop()
  }
}

/** Events handled a second, window by window. */
async function flow(shop: Shop): Promise<number[]> {
  const writers = Math.min(WRITERS, shop.groups)
  let isOver = false
  const write = async (writer: number): Promise<void> => {
    for (let group = writer; !isOver; group = group + writers < shop.groups ? group + writers : writer) {
      await shop.room()
      await shop.send(group)
    }
  }
  const writing = Array.from({ length: writers }, (_, writer) => write(writer))
  await delay(WARM_UP_MS)
  const rates: number[] = []
  for (let window = 0; window < WINDOWS; window += 1) {
    const before = shop.handled()
    const started = performance.now()
    await delay(WINDOW_MS)
    rates.push((1000 * (shop.handled() - before)) / (performance.now() - started))
  }
  isOver = true
  await Promise.all(writing)
  await shop.idle()
  return rates
}

/** ms from the call that commits an event to its handler, of each. */
async function pace(shop: Shop): Promise<number[]> {
  const latencies: Promise<number>[] = []
  for (let n = 0; n < PACED; n += 1) {
    const [{ handled }] = await Promise.all([shop.send(n % shop.groups), delay(PACE_MS)])
    latencies.push(handled)
  }
  return Promise.all(latencies)
}

function figuresOf(
  groups: number,
  { rates, latencies }: { readonly rates: readonly number[]; readonly latencies: readonly number[] },
): Figure[] {
  const label = (what: string) => `end to end, ${groups} group${groups === 1 ? '' : 's'}: ${what}, engine figure`
  const suffix = groups === 100 ? '' : `${groups}Group${groups === 1 ? '' : 's'}`
  return [
    {
      key: `latencyP50Ms${suffix}`,
      label: label('ms from commit to handler, half within'),
      value: quantile(latencies, 0.5),
    },
    {
      key: `latencyP99Ms${suffix}`,
      label: label('ms from commit to handler, 99 % within'),
      value: quantile(latencies, 0.99),
    },
    {
      key: `eventsPerSecond${suffix}`,
      label: label('events a second, all handled'),
      value: median(rates),
      spread: spread(rates),
    },
  ]
}

function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? Number.NaN
}

type Shop = Awaited<ReturnType<typeof openShop>>

/** Relay and consumer with the settings that they are deployed with, on an AWS of their own. */
async function openShop(groups: number) {
  const aws = await startLocalAws()
  const queue = await aws.createQueue('orders', { deadLetter: true })
  /** By the number of the event. */
  const underWay = new Map<number, () => void>()
  const sequences = new Array<number>(groups).fill(0)
  let sent = 0
  const waiting: (() => void)[] = []

  const handle = ({ data }: { readonly data: unknown }): void => {
    const { n } = data as { readonly n: number }
    underWay.get(n)?.()
    underWay.delete(n)
    for (const wake of waiting.splice(0)) wake()
  }
  await aws.startRelay({ queue, logger: silent })
  // As it is deployed: what the relay leaves on a bad moment of the machine would never be handled without it.
  aws.startSweeper({ queue, logger: silent })
  aws.startConsumer({ queue, name: 'bench', handlers: [on(TYPE, 'note', handle)], logger: silent })
  const outbox = createOutbox({ client: aws.dynamo, tableName: aws.outboxTable })

  const leftBelow = async (limit: number): Promise<void> => {
    while (underWay.size >= limit) await new Promise<void>((resolve) => waiting.push(resolve))
  }

  return {
    groups,
    handled: () => sent - underWay.size,
    room: () => leftBelow(UNDER_WAY),
    idle: () => leftBelow(1),
    stop: () => aws.stop(),
    /** Commits the next event of a group; `handled` resolves with the ms since the call. */
    send: async (group: number): Promise<{ readonly handled: Promise<number> }> => {
      const n = sent++
      const sequence = (sequences[group] ?? 0) + 1
      sequences[group] = sequence
      const started = performance.now()
      const { promise: handled, resolve } = Promise.withResolvers<number>()
      underWay.set(n, () => resolve(performance.now() - started))
      const event: NewEvent = { source: SOURCE, group: `customer-${group}`, sequence, type: TYPE, data: { n } }
      await outbox.transact({ events: [event] })
      return { handled }
    },
  }
}
