import { createRelay } from '../../src/relay/relay.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import type { StreamImage, StreamRecord } from '../../src/testing/lambda-events.ts'
import { type Clients, createClients } from './clients.ts'
import { putItems } from './event-rows.ts'
import type { Bound, Figure } from './figure.ts'
import type { Item } from './filled-engine.ts'
import type { Part } from './part.ts'
import { batchOf, rowImage } from './relay-batches.ts'
import { bareSend, type HandRelay, markEach, markTen } from './relay-peers.ts'
import { compare, interleave, type Sample, type Side } from './rounds.ts'
import { startSmallEngine } from './small-engine.ts'
import { type Stub, startStub, TABLE } from './stub.ts'

const EVENTS = 1000
const GROUPS = 100
const UNORDERED_ROUNDS = { rounds: 7, warmUp: 3 }
const GROUP_ROUNDS = { rounds: 5, warmUp: 2 }

const context = { getRemainingTimeInMillis: () => 60_000 }
const silent = { info: () => {}, warn: () => {}, error: () => {} }

/** The relay's CPU for batches of 1,000 events of 1 KB. The queue is the stub: it takes everything, at once. */
export const measureRelay: Part = async (say) => {
  const stub = await startStub()
  try {
    say(`${UNORDERED_ROUNDS.rounds} rounds of ${EVENTS} unordered events`)
    const unordered = await measureUnordered(stub)
    say(`${GROUP_ROUNDS.rounds} rounds of ${GROUPS} groups of ${EVENTS / GROUPS} events, read from the engine`)
    return [...unordered, ...(await measureGroups(stub))]
  } finally {
    await stub.stop()
  }
}

/** Marks go to the stub too. */
async function measureUnordered(stub: Stub): Promise<Figure[]> {
  const at = { dynamo: stub.endpoint, sqs: stub.endpoint }
  const images = Array.from({ length: EVENTS }, (_, n) => rowImage({ source: 'shop', key: `order-${n}` }))
  const side = (relay: Relay, marks?: string): Side => ({
    prepare: () => {
      const batch = batchOf(images)
      return () => relay(batch)
    },
    verify: () => expectItems(stub, ['SendMessageBatch', ...(marks === undefined ? [] : [marks])]),
  })
  const peer = (relay: HandRelay, marks?: string): Side => side(byHand(relay, createClients('peer', at), stub), marks)
  const [ours = [], bare = [], each = [], ten = []] = await interleave(
    [
      side(ourRelay(createClients('ours', at), stub), 'BatchExecuteStatement'),
      peer(bareSend),
      peer(markEach, 'UpdateItem'),
      peer(markTen, 'UpdateItem'),
    ],
    UNORDERED_ROUNDS,
  )
  return [
    figure('relayVsBareSend', 'relay, unordered, against a bare send that marks nothing', ours, bare, { atLeast: 0.6 }),
    figure('relayVsRowMarks', 'relay, unordered, against one that marks row by row', ours, each, { atLeast: 4 }),
    figure('relayVsRowMarksAtOnce', 'relay, unordered, against one that marks ten rows at once', ours, ten),
  ]
}

/** Ordered rows are read from the table: every round has new groups there. The peer sends what the records say. */
async function measureGroups(stub: Stub): Promise<Figure[]> {
  const engine = await startSmallEngine({ [TABLE]: ['pk', 'sk'] })
  try {
    const at = { dynamo: engine.endpoint, sqs: stub.endpoint }
    const clients = { ours: createClients('ours', at), peer: createClients('peer', at) }
    let round = 0
    const side = (relay: Relay): Side => ({
      prepare: async () => {
        round += 1
        const images = groupImages(round)
        await putItems(clients.peer.dynamo, TABLE, images as unknown as Item[])
        const batch = batchOf(images)
        return () => relay(batch)
      },
      verify: () => expectItems(stub, ['SendMessageBatch']),
    })
    const sides = [side(ourRelay(clients.ours, stub)), side(byHand(bareSend, clients.peer, stub))]
    const [ours = [], bare = []] = await interleave(sides, GROUP_ROUNDS)
    return [
      figure('relay100GroupsVsBareSend', 'relay, 100 groups × 10, against a bare send that marks nothing', ours, bare),
    ]
  } finally {
    await engine.stop()
  }
}

/** The groups' events in turn, so that ten records in a row never hold two of one group. */
function groupImages(round: number): StreamImage[] {
  return Array.from({ length: EVENTS }, (_, n) =>
    rowImage({ source: 'shop', group: `customer-${round}-${n % GROUPS}`, sequence: Math.floor(n / GROUPS) + 1 }),
  )
}

type Relay = (records: readonly StreamRecord[]) => Promise<void>

function ourRelay({ dynamo, sqs }: Clients, { queueUrl }: Stub): Relay {
  const routes = [{ to: createSqsPublisher({ client: sqs, queueUrl }) }]
  const relay = createRelay({ client: dynamo, tableName: TABLE, routes, logger: silent })
  return async (records) => {
    const { batchItemFailures } = await relay({ Records: records }, context)
    if (batchItemFailures.length > 0) throw new Error('the relay reported records')
  }
}

function byHand(relay: HandRelay, clients: Clients, { queueUrl }: Stub): Relay {
  return (records) => relay({ ...clients, queueUrl, tableName: TABLE }, records)
}

/** Nothing is measured that was not done: the stub must have taken every event under each of these actions. */
async function expectItems(stub: Stub, actions: readonly string[]): Promise<void> {
  const { items } = await stub.counts()
  for (const action of actions) {
    if (items[action] !== EVENTS) throw new Error(`${items[action]} of ${EVENTS} items of ${action}`)
  }
}

function figure(
  key: string,
  label: string,
  ...[ours, peer, bound]: readonly [ours: readonly Sample[], peer: readonly Sample[], bound?: Bound]
): Figure {
  const perSecond = (samples: readonly Sample[]) => samples.map(({ cpuSeconds }) => EVENTS / cpuSeconds)
  const { ratio, spread, ...sides } = compare(perSecond(ours), perSecond(peer))
  return { key, label, value: ratio, sides: { unit: 'per CPU-s', ...sides }, spread, ...(bound && { bound }) }
}
