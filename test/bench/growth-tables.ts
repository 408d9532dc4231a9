import type { NewEvent } from '../../src/event/event.ts'
import type { Identity } from '../../src/event/identity.ts'
import { LEDGER_TABLE, OUTBOX_TABLE } from '../../src/tables.ts'
import { createClients } from './clients.ts'
import { DATA, identities, oldGroup, pendingItem, putItems, relayedItems, SOURCE, TYPE } from './event-rows.ts'
import type { FilledEngine, Item } from './filled-engine.ts'
import { openSteps, type Step } from './steps.ts'
import type { Stub } from './stub.ts'

/** Half of the stored rows lie in these: of 100,000 each has 5,000. */
const GROUPS = 10
/** Rows relayed and swept in one measurement: half unordered, half the next ones of the stored groups. */
const ROWS = 400
const ENQUEUED = 50
const CLAIMED = 200
const HOUR = 3_600_000

/** In this order: what is enqueued stays pending, and comes last. */
export const OPERATIONS = ['relay', 'sweep', 'claim', 'enqueue'] as const
export type Operation = (typeof OPERATIONS)[number]

/** Each makes its work ready, and gives it. */
export type Size = Readonly<Record<Operation, () => Promise<() => Promise<Step>>>>

type Services = { readonly engine: FilledEngine; readonly stub: Stub }

/** An outbox table and a ledger with so many rows each. */
export function tablesOf(stored: number) {
  return [
    { name: `outbox-${stored}`, definition: OUTBOX_TABLE, rows: relayedItems(stored, GROUPS) },
    { name: `ledger-${stored}`, definition: LEDGER_TABLE, rows: doneItems(stored) },
  ]
}

function* doneItems(count: number): Iterable<Item> {
  for (let n = 0; n < count; n += 1) {
    yield {
      pk: { S: `old-${n}` },
      sk: { S: 'bench/handle' },
      status: { S: 'done' },
      token: { S: '0123456789' },
      lease: { N: '1700000000000' },
      attempts: { N: '0' },
      due: { N: '0' },
      life: { N: '1700000000000' },
      expires: { N: '4000000000' },
    }
  }
}

/** The operations on the tables of one size. */
export function openSize({ engine, stub }: Services, stored: number): Size {
  const tables = { outbox: `outbox-${stored}`, ledger: `ledger-${stored}` }
  const steps = openSteps(engine.endpoint, stub, tables)
  const { dynamo } = createClients('peer', { dynamo: engine.endpoint, sqs: stub.endpoint })
  let sequence = stored / 2 / GROUPS
  let rounds = 0

  const newIdentities = (): Identity[] => {
    rounds += 1
    const first = sequence + 1
    sequence += ROWS / 2 / GROUPS
    const ordered = Array.from({ length: ROWS / 2 }, (_, n) => ({
      source: SOURCE,
      group: oldGroup(n % GROUPS),
      sequence: first + Math.floor(n / GROUPS),
    }))
    return [...identities(ROWS / 2, `new-${rounds}`), ...ordered]
  }
  const newRows = async (created: number): Promise<Item[]> => {
    const rows = newIdentities().map((identity) => pendingItem(identity, created))
    await putItems(dynamo, tables.outbox, rows)
    return rows
  }
  return {
    relay: async () => {
      const rows = await newRows(Date.now())
      return () => steps.relay(rows)
    },
    sweep: async () => {
      await newRows(Date.now() - HOUR)
      return () => steps.sweep(ROWS)
    },
    claim: async () => {
      rounds += 1
      const rows = identities(CLAIMED, `claim-${rounds}`).map((identity) => pendingItem(identity, Date.now()))
      return () => steps.consume(rows, 'bench', () => {})
    },
    enqueue: async () => {
      const events = Array.from({ length: ENQUEUED }, (_, n): NewEvent => {
        return { source: SOURCE, group: oldGroup(n % GROUPS), sequence: 'auto', type: TYPE, data: DATA }
      })
      return () => steps.enqueue(events)
    },
  }
}
