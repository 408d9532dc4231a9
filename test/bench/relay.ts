import { marshalItem } from '../../src/outbox/attribute-form.ts'
import { buildRow } from '../../src/outbox/build-row.ts'
import { createRelay } from '../../src/relay/relay.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import type { StreamImage, StreamRecord } from '../../src/testing/lambda-events.ts'
import { streamRecord } from '../../src/testing/records.ts'
import { type Clients, createClients, REGION } from './clients.ts'
import type { Figure } from './figure.ts'
import type { Part } from './part.ts'
import { bareSend, sendAndMarkRows, type Target } from './relay-peers.ts'
import { compare, interleave, type Sample, type Side } from './rounds.ts'
import { type Stub, startStub, TABLE } from './stub.ts'

const EVENTS = 1000
/** Batches of one measurement. */
const BATCHES = 1
const ROUNDS = { rounds: 15, warmUp: 4 }
/** Bytes of a row, about. */
const ROW_BYTES = 1000

const context = { getRemainingTimeInMillis: () => 60_000 }
const silent = { info: () => {}, warn: () => {}, error: () => {} }

/** The relay's CPU, on the stub: every answer is a yes, at once. */
export const measureRelay: Part = async (say) => {
  const stub = await startStub()
  try {
    return await unordered(stub, say)
  } finally {
    await stub.stop()
  }
}

async function unordered(stub: Stub, say: (text: string) => void): Promise<Figure[]> {
  say(`${ROUNDS.rounds} rounds of ${BATCHES} batches of ${EVENTS} unordered events of 1 KB`)
  const at = { dynamo: stub.endpoint, sqs: stub.endpoint }
  const peer = { ...createClients('peer', at), queueUrl: stub.queueUrl, tableName: TABLE }
  const relay = ourRelay(createClients('ours', at), stub.queueUrl)
  const sides = [
    side('ours', stub, relay, { SendMessageBatch: EVENTS * BATCHES, BatchExecuteStatement: EVENTS * BATCHES }),
    side('bare send', stub, peerRelay(bareSend, peer), { SendMessageBatch: EVENTS * BATCHES }),
    side('row marks', stub, peerRelay(sendAndMarkRows, peer), {
      SendMessageBatch: EVENTS * BATCHES,
      UpdateItem: EVENTS * BATCHES,
    }),
  ]
  const [ours = [], bare = [], marks = []] = await interleave(sides, ROUNDS)
  return [
    figure('relayVsBareSend', 'relay, unordered: against a bare send that marks nothing', {
      ours,
      peer: bare,
      atLeast: 0.6,
    }),
    figure('relayVsRowMarks', 'relay, unordered: against marking row by row', { ours, peer: marks, atLeast: 4 }),
  ]
}

type Handle = (records: readonly StreamRecord[]) => Promise<void>

function ourRelay({ dynamo, sqs }: Clients, queueUrl: string): Handle {
  const routes = [{ to: createSqsPublisher({ client: sqs, queueUrl }) }]
  const relay = createRelay({ client: dynamo, tableName: TABLE, routes, logger: silent })
  return async (records) => {
    const { batchItemFailures } = await relay({ Records: records }, context)
    if (batchItemFailures.length > 0) throw new Error('the relay reported records')
  }
}

function peerRelay(relay: (target: Target, records: readonly StreamRecord[]) => Promise<void>, target: Target): Handle {
  return (records) => relay(target, records)
}

/** Batches as Lambda hands them over, parsed anew each time; afterwards the stub must have taken every event. */
function side(name: string, stub: Stub, handle: Handle, expected: Readonly<Record<string, number>>): Side {
  return {
    prepare: () => {
      const batches: StreamRecord[][] = JSON.parse(
        JSON.stringify(Array.from({ length: BATCHES }, (_, n) => batchOf(n))),
      )
      return async () => {
        for (const batch of batches) await handle(batch)
      }
    },
    verify: async () => {
      const { items } = await stub.counts()
      for (const [action, count] of Object.entries(expected)) {
        if (items[action] !== count) throw new Error(`${name}: ${items[action]} of ${count} items of ${action}`)
      }
    },
  }
}

function batchOf(batch: number): StreamRecord[] {
  const created = Date.now()
  const stamp = { created, instance: '0123456789abcdef', region: REGION }
  return Array.from({ length: EVENTS }, (_, n) => {
    const key = `order-${batch}-${n}`
    const data = { orderId: key, customerId: `customer-${n % 60}`, total: 42.5, note: '' }
    const event = { source: 'shop', type: 'order.placed', data, headers: {}, key }
    const draft = (note: string) => ({ event, dataText: JSON.stringify({ ...data, note }) })
    const identity = { source: 'shop', key }
    const bare = JSON.stringify(buildRow(draft(''), identity, stamp)).length
    const row = buildRow(draft('x'.repeat(ROW_BYTES - bare)), identity, stamp)
    return streamRecord({
      newImage: marshalItem({ ...row } as never) as StreamImage,
      sequence: n + 1,
      createdAt: created,
    })
  })
}

function figure(
  key: string,
  label: string,
  { ours, peer, atLeast }: { ours: readonly Sample[]; peer: readonly Sample[]; atLeast: number },
): Figure {
  const perSecond = (samples: readonly Sample[]) => samples.map(({ cpuSeconds }) => (EVENTS * BATCHES) / cpuSeconds)
  const { ratio, spread, ...sides } = compare(perSecond(ours), perSecond(peer))
  return { key, label, value: ratio, sides: { unit: 'events per CPU-s', ...sides }, spread, bound: { atLeast } }
}
