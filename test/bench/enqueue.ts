import { createOutbox, isOutboxError } from '../../src/index.ts'
import { type Clients, createClients } from './clients.ts'
import { bareEnqueue, type Enqueue, ourEnqueue } from './enqueue-sides.ts'
import type { Figure } from './figure.ts'
import type { Part } from './part.ts'
import { compare, interleave, median, type Sample, type Side, spread } from './rounds.ts'
import { startSmallEngine } from './small-engine.ts'
import { type Stub, startStub, TABLE } from './stub.ts'

/** Transactions of one measurement, so many of them under way at once. */
const TRANSACTIONS = 400
const CONCURRENCY = 10
const ROUNDS = { rounds: 11, warmUp: 3 }

const AUTO = { writers: 4, events: 100, rounds: 5 }

/** The write path's CPU on the stub, and what one group takes of `auto` numbers on the engine. */
export const measureEnqueue: Part = async (say) => {
  const stub = await startStub()
  try {
    say(`${ROUNDS.rounds} rounds of ${TRANSACTIONS} transactions of one write and one event`)
    const figures = [await measureCpu(stub)]
    say(`${AUTO.writers} writers with one group, on the engine`)
    return [...figures, await measureAuto()]
  } finally {
    await stub.stop()
  }
}

async function measureCpu(stub: Stub): Promise<Figure> {
  // As in the README: whoever enqueues brings a client of his own, and nothing is set on it.
  const { dynamo } = createClients('peer', { dynamo: stub.endpoint, sqs: stub.endpoint })
  const sides = [side(stub, ourEnqueue(dynamo)), side(stub, bareEnqueue(dynamo))]
  const [ours = [], bare = []] = await interleave(sides, ROUNDS)
  const perSecond = (samples: readonly Sample[]) => samples.map(({ cpuSeconds }) => TRANSACTIONS / cpuSeconds)
  const { ratio, spread: width, ...values } = compare(perSecond(ours), perSecond(bare))
  return {
    key: 'enqueueVsBare',
    label: 'enqueue: transact, against TransactWriteItems of the same items by hand',
    value: ratio,
    sides: { unit: 'per CPU-s', ...values },
    spread: width,
    bound: { atLeast: 0.8 },
  }
}

function side(stub: Stub, enqueue: Enqueue): Side {
  return {
    prepare: () => () => atOnce(CONCURRENCY, TRANSACTIONS, (n) => enqueue(`order-${n}`)),
    verify: async () => {
      const { items } = await stub.counts()
      // Two actions each.
      if (items['TransactWriteItems'] !== 2 * TRANSACTIONS) throw new Error('not every transaction was sent')
    },
  }
}

/** `count` times, `lanes` of them at a time. */
async function atOnce(lanes: number, count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  const queue = Array(count).keys()
  const lane = async (): Promise<void> => {
    for (const n of queue) await work(n)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

/** Every writer has to read the highest number and to win it: the engine's own speed, not AWS's. */
async function measureAuto(): Promise<Figure> {
  const engine = await startSmallEngine({ [TABLE]: ['pk', 'sk'] })
  try {
    const clients = createClients('ours', { dynamo: engine.endpoint, sqs: engine.endpoint })
    const speeds: number[] = []
    for (let round = 0; round < AUTO.rounds; round += 1) speeds.push(await autoPerSecond(clients, `group-${round}`))
    return {
      key: 'autoPerSecondOneGroup',
      label: `enqueue: auto numbers a second on one group, ${AUTO.writers} writers (engine figure)`,
      value: median(speeds),
      spread: spread(speeds),
    }
  } finally {
    await engine.stop()
  }
}

async function autoPerSecond({ dynamo }: Clients, group: string): Promise<number> {
  const outbox = createOutbox({ client: dynamo, tableName: TABLE })
  const event = { source: 'shop', group, sequence: 'auto', type: 'order.placed', data: { total: 42.5 } } as const
  const started = performance.now()
  await atOnce(AUTO.writers, AUTO.events, () => untilWritten(() => outbox.transact({ events: [event] })))
  return AUTO.events / ((performance.now() - started) / 1000)
}

/** Whoever finds the group too busy calls again, as the error says. */
async function untilWritten(transact: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await transact()
      return
    } catch (error) {
      if (!isOutboxError(error, 'TRANSACTION_BUSY')) throw error
    }
  }
}
