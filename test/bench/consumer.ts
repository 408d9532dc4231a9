import type { SQSEvent } from 'aws-lambda'
import { encodeBody } from '../../src/event/codec.ts'
import type { Engine } from '../../src/testing/dynamo-engine.ts'
import { sqsRecord } from '../../src/testing/records.ts'
import { type Clients, createClients } from './clients.ts'
import { type BatchHandler, type Effect, ourConsumer, powertoolsConsumer, TABLES } from './consumer-sides.ts'
import type { Bound, Figure } from './figure.ts'
import type { Part } from './part.ts'
import { countRequests } from './request-counter.ts'
import { compare, interleave, type Sample, type Side } from './rounds.ts'
import { startSmallEngine } from './small-engine.ts'
import { type Stub, startStub } from './stub.ts'

/** Batches of one measurement, each of ten messages of ten groups. */
const BATCHES = 8
const MESSAGES = 10 * BATCHES
const ROUNDS = { rounds: 9, warmUp: 4 }

/** The consumer's CPU and requests: ledger and idempotency records on the engine, the queue on the stub. */
export const measureConsumer: Part = async (say) => {
  const stub = await startStub()
  const engine = await startSmallEngine(KEYS)
  try {
    say(`CPU: ${ROUNDS.rounds} rounds of ${BATCHES} batches of ten groups, fresh and again, plain and with an effect`)
    const cpu = await measureCpu(stub, engine)
    say('requests of one batch')
    return [...cpu, ...(await measureRequests(stub, engine))]
  } finally {
    await Promise.all([stub.stop(), engine.stop()])
  }
}

const KEYS = { [TABLES.ledger]: ['pk', 'sk'], [TABLES.idempotency]: ['id'], [TABLES.orders]: ['pk'] } as const

type Pair = { readonly ours: BatchHandler; readonly peer: BatchHandler }

function createPair(clients: Record<'ours' | 'peer', Clients>, stub: Stub, effect: Effect): Pair {
  return {
    ours: ourConsumer(clients.ours, stub.queueUrl, effect),
    peer: powertoolsConsumer(clients.peer, effect),
  }
}

async function measureCpu(stub: Stub, engine: Engine): Promise<Figure[]> {
  const at = { dynamo: engine.endpoint, sqs: stub.endpoint }
  const clients = { ours: createClients('ours', at), peer: createClients('peer', at) }
  const [plain, item] = [createPair(clients, stub, 'none'), createPair(clients, stub, 'item')]
  const sides = [plain.ours, plain.peer, item.ours, item.peer].flatMap(freshThenAgain)
  const samples = await interleave(sides, ROUNDS)
  const figure = (key: string, label: string, from: number, bound?: Bound): Figure =>
    cpuFigure({ key, label, ours: samples[from] ?? [], peer: samples[from + 2] ?? [], bound })
  return [
    figure('consumerCpuVsPowertools', 'consumer: CPU per fresh message, plain handler', 0, { atMost: 0.3 }),
    figure('duplicateCpuVsPowertools', 'consumer: CPU per duplicate', 1),
    figure('commitCpuVsPowertools', 'consumer: CPU per fresh message that writes an item (ctx.commit)', 4),
  ]
}

/** Fresh messages, then the same ones as duplicates: none of those may run the handler. */
function freshThenAgain(handler: BatchHandler): Side[] {
  let batches: SQSEvent[] = []
  let before = 0
  const side = (prepare: () => void, expected: number): Side => ({
    prepare: () => {
      prepare()
      before = handler.runs()
      return async () => {
        for (const batch of batches) await handler.handle(batch)
      }
    },
    verify: async () => {
      const ran = handler.runs() - before
      if (ran !== expected) throw new Error(`${ran} runs of the handler instead of ${expected}`)
    },
  })
  const fresh = side(() => {
    batches = Array.from({ length: BATCHES }, nextBatch)
  }, MESSAGES)
  return [fresh, side(() => {}, 0)]
}

let serial = 0

/** Ten messages of ten groups that nobody has seen yet. */
function nextBatch(): SQSEvent {
  serial += 1
  const Records = Array.from({ length: 10 }, (_, n) => {
    const identity = { source: 'shop', group: `customer-${n}`, sequence: serial }
    const data = { orderId: `order-${serial}-${n}`, total: 42.5, note: 'x'.repeat(400) }
    const time = new Date().toISOString()
    const dataText = JSON.stringify(data)
    const body = encodeBody({ identity, type: 'order.placed', time, dataText, headers: {}, life: Date.now() })
    return sqsRecord({ body, groupId: `shop/customer-${n}`, sequence: serial, queueName: 'bench.fifo' })
  })
  return JSON.parse(JSON.stringify({ Records })) as SQSEvent
}

type Measured = {
  readonly key: string
  readonly label: string
  readonly ours: readonly Sample[]
  readonly peer: readonly Sample[]
  readonly bound: Bound | undefined
}

function cpuFigure({ key, label, ours, peer, bound }: Measured): Figure {
  const perMessage = (samples: readonly Sample[]) => samples.map(({ cpuSeconds }) => (cpuSeconds / MESSAGES) * 1000)
  const { ratio, spread, ...sides } = compare(perMessage(ours), perMessage(peer))
  return { key, label, value: ratio, sides: { unit: 'ms', ...sides }, spread, ...(bound && { bound }) }
}

/** Counted with clients of their own, so that counting costs no CPU that is measured. */
async function measureRequests(stub: Stub, engine: Engine): Promise<Figure[]> {
  const at = { dynamo: engine.endpoint, sqs: stub.endpoint }
  const clients = { ours: createClients('ours', at), peer: createClients('peer', at) }
  const counts = {
    ours: countRequests(clients.ours.dynamo, clients.ours.sqs),
    peer: countRequests(clients.peer.dynamo, clients.peer.sqs),
  }
  const sidesOf = async ({ ours, peer }: Pair, batch: SQSEvent) => ({
    ours: await counts.ours(() => ours.handle(batch)),
    peer: await counts.peer(() => peer.handle(batch)),
  })
  const plain = createPair(clients, stub, 'none')
  const batch = nextBatch()
  const fresh = await sidesOf(plain, batch)
  const again = await sidesOf(plain, batch)
  const commit = await sidesOf(createPair(clients, stub, 'item'), nextBatch())
  const figure = (
    key: string,
    label: string,
    { ours, peer }: { ours: number; peer: number },
    atMost?: number,
  ): Figure => {
    const sides = { unit: 'requests', ours: ours / 10, peer: peer / 10 }
    return { key, label, value: ours / 10, sides, ...(atMost === undefined ? {} : { bound: { atMost } }) }
  }
  const all = (side: Awaited<ReturnType<typeof sidesOf>>) => ({ ours: side.ours.all, peer: side.peer.all })
  const ledger = { ours: again.ours.dynamo, peer: again.peer.dynamo }
  return [
    figure('consumerRequestsPerMessage', 'consumer: requests per fresh message, all services', all(fresh), 0.4),
    figure('duplicateLedgerRequestsPerMessage', 'consumer: ledger requests per duplicate', ledger, 0.2),
    figure('commitRequestsPerMessage', 'consumer: requests per message that writes an item, all services', all(commit)),
  ]
}
