import type { HandleFunction } from '../../src/consumer/handler.ts'
import type { NewEvent } from '../../src/event/event.ts'
import type { Identity } from '../../src/event/identity.ts'
import { itemSize } from '../../src/outbox/item-size.ts'
import { LEDGER_TABLE, OUTBOX_TABLE } from '../../src/tables.ts'
import {
  byteMonths,
  INVOCATIONS,
  LEDGER_DAYS,
  MAPPING_REQUESTS,
  type PerEvent,
  peers,
  ROW_DAYS,
  usdPerIdleMonth,
  usdPerIdlePolling,
  usdPerMillion,
} from './bill.ts'
import { createClients } from './clients.ts'
import { DATA, identities, mixedIdentities, pendingItem, putItems, SOURCE, TYPE } from './event-rows.ts'
import type { Figure } from './figure.ts'
import { type FilledEngine, type Item, startFilledEngine } from './filled-engine.ts'
import type { Part, Say } from './part.ts'
import { openSteps, type Step, type Steps, scanRows } from './steps.ts'
import { type Stub, startStub } from './stub.ts'

const EVENTS = 1000
const PER_GROUP = 10
const HOUR = 3_600_000
const KB = 1024

/** Tables of its own for each kind of event. */
const KINDS = ['unordered', 'ordered', 'auto', 'swept'] as const
type Kind = (typeof KINDS)[number]

/**
 * What each step of an event's way consumes: units as the engine counts them (by AWS's rules: see the test of the meter),
 * requests as the services got them. Dollars are arithmetic on both.
 */
export const measureCost: Part = async (say) => {
  const empty = [...KINDS.map((kind) => ({ name: kind, definition: OUTBOX_TABLE })), ledger('ledger'), ledger('orders')]
  const engine = await startFilledEngine(empty.map((table) => ({ ...table, rows: [] })))
  const stub = await startStub()
  try {
    return figures(await measureSteps({ engine, stub }, say))
  } finally {
    await Promise.all([engine.stop(), stub.stop()])
  }
}

const ledger = (name: string) => ({ name, definition: LEDGER_TABLE })

type Services = { readonly engine: FilledEngine; readonly stub: Stub }
type Costs = Awaited<ReturnType<typeof measureSteps>>

async function measureSteps({ engine, stub }: Services, say: Say) {
  const open = (kind: Kind): Steps => openSteps(engine.endpoint, stub, { outbox: kind, ledger: 'ledger' })
  const { dynamo } = createClients('peer', { dynamo: engine.endpoint, sqs: stub.endpoint })
  const enqueueAndRelay = async (kind: Kind, events: readonly NewEvent[]) => {
    say(`${events.length} events: ${kind}`)
    const steps = open(kind)
    const enqueue = await steps.enqueue(events)
    const rows = await scanRows(dynamo, kind)
    return { steps, rows, enqueue, relay: await steps.relay(rows) }
  }
  const unordered = await enqueueAndRelay('unordered', identities(EVENTS, 'a').map(eventOf))
  const ordered = await enqueueAndRelay('ordered', identities(EVENTS, 'b', { perGroup: PER_GROUP }).map(eventOf))
  const auto = await enqueueAndRelay('auto', identities(EVENTS, 'c', { perGroup: PER_GROUP }).map(autoEventOf))
  const { steps, rows } = unordered
  say('handled: plain, with ctx.commit, and again')
  const plain = await steps.consume(rows, 'plain', () => {})
  const commit = await steps.consume(rows, 'commit', commitOneItem)
  const duplicate = await steps.consume(rows, 'plain', () => {})
  const swept = await measureSweep(open('swept'), (items) => putItems(dynamo, 'swept', items))
  const sizes = { row: largest(rows), ledger: largest(await scanRows(dynamo, 'ledger')) }
  if (sizes.row > KB) throw new Error(`a row has ${sizes.row} bytes`)
  return { unordered, ordered, auto, plain, commit, duplicate, swept, sizes }
}

async function measureSweep(steps: Steps, put: (items: readonly Item[]) => Promise<void>) {
  await steps.sweep(0)
  const idle = await steps.sweep(0)
  await put(mixedIdentities(EVENTS, 'd', PER_GROUP).map((identity) => pendingItem(identity, Date.now() - HOUR)))
  return { idle, full: await steps.sweep(EVENTS) }
}

const commitOneItem: HandleFunction<unknown> = async ({ id }, ctx) => {
  await ctx.commit([{ Put: { TableName: 'orders', Item: { pk: { S: id }, sk: { S: '-' } } } }])
}

function eventOf(identity: Identity): NewEvent {
  return { ...identity, type: TYPE, data: DATA }
}

function autoEventOf(identity: Identity): NewEvent {
  return { source: SOURCE, group: 'group' in identity ? identity.group : '', sequence: 'auto', type: TYPE, data: DATA }
}

function largest(rows: readonly Item[]): number {
  return Math.max(...rows.map(itemSize))
}

function figures(costs: Costs): Figure[] {
  const { unordered, ordered, auto, plain, commit, duplicate, swept } = costs
  const way = [unordered.enqueue, unordered.relay, plain]
  const of = (key: string, label: string, value: number): Figure => ({ key, label: `cost: ${label}`, value })
  return [
    {
      ...of('writeUnitsPerEvent', 'write units an event, unordered, one plain handler', perEvent(way, 'writeUnits')),
      bound: { atMost: 7 },
    },
    {
      ...of('sqsRequestsPerEvent', 'SQS requests an event, full batches (0.2 of them the mapping’s)', sqsPerEvent(way)),
      bound: { atMost: 0.45 },
    },
    of('readUnitsPerEvent', 'read units an event, unordered', perEvent(way, 'readUnits')),
    of('dynamoRequestsPerEvent', 'DynamoDB requests an event, unordered', perEvent(way, 'requests')),
    of('enqueueWriteUnits', 'write units, enqueue', perEvent([unordered.enqueue], 'writeUnits')),
    of('autoReadUnits', 'read units, enqueue with an `auto` number', perEvent([auto.enqueue], 'readUnits')),
    of('relayWriteUnits', 'write units, relay', perEvent([unordered.relay], 'writeUnits')),
    of('orderedRelayReadUnits', `read units, relay in groups of ${PER_GROUP}`, perEvent([ordered.relay], 'readUnits')),
    of('autoRelayReadUnits', 'read units, relay of new `auto` groups', perEvent([auto.relay], 'readUnits')),
    of('sweepReadUnits', `read units, sweep of ${EVENTS} rows`, perEvent([swept.full], 'readUnits')),
    of('handleWriteUnits', 'write units, a plain handler', perEvent([plain], 'writeUnits')),
    of(
      'commitWriteUnits',
      'write units, ctx.commit of one item (2 of them the item’s)',
      perEvent([commit], 'writeUnits'),
    ),
    of(
      'duplicateWriteUnits',
      'write units, a duplicate (refused claims: by AWS’s rule)',
      perEvent([duplicate], 'writeUnits'),
    ),
    ...dollars(costs),
  ]
}

function dollars({ unordered, ordered, plain, swept, sizes }: Costs): Figure[] {
  const bill = ({ enqueue, relay }: { enqueue: Step; relay: Step }): PerEvent => ({
    writeUnits: perEvent([enqueue, relay, plain], 'writeUnits'),
    readUnits: perEvent([enqueue, relay, plain], 'readUnits'),
    sqsRequests: sqsPerEvent([enqueue, relay, plain]),
    pipesRequests: 0,
    invocations: INVOCATIONS,
    storedByteMonths: byteMonths(sizes.row, ROW_DAYS) + byteMonths(sizes.ledger, LEDGER_DAYS),
  })
  const of = (key: string, label: string, value: number): Figure => ({ key, label: `cost: ${label}`, value })
  return [
    of('usdPerMillion', 'dollars a million events, unordered', usdPerMillion(bill(unordered))),
    of('usdPerMillionOrdered', `dollars a million events, in groups of ${PER_GROUP}`, usdPerMillion(bill(ordered))),
    ...Object.entries(peers(sizes.row)).map(([name, peer]) =>
      of(`usdPerMillion${name}`, `dollars a million events, ${name} (arithmetic)`, usdPerMillion(peer)),
    ),
    of('usdPerIdleMonth', 'dollars an idle month, without alarms and dashboard', usdPerIdleMonth(swept.idle)),
    of('usdPerIdleMonthPeers', 'dollars an idle month, any of the peers (arithmetic: polling)', usdPerIdlePolling()),
  ]
}

function perEvent(steps: readonly Step[], unit: 'writeUnits' | 'readUnits' | 'requests'): number {
  return steps.reduce((sum, step) => sum + step[unit], 0) / EVENTS
}

/** Lambda receives and deletes for its mapping: those requests are not ours to count, but ours to pay. */
function sqsPerEvent(steps: readonly Step[]): number {
  return steps.reduce((sum, { sqsRequests }) => sum + sqsRequests, 0) / EVENTS + MAPPING_REQUESTS
}
