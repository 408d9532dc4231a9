import { GetItemCommand } from '@aws-sdk/client-dynamodb'
import { errorName, isOutboxError } from '../../../src/errors.ts'
import type { NewEvent } from '../../../src/event/event.ts'
import type { AttributeWrite } from '../../../src/outbox/client-write.ts'
import type { EventData } from '../workload/event-data.ts'
import { type PlannedTransaction, planTransaction } from '../workload/plan-transaction.ts'
import type { Station } from './station.ts'

/** Transactions of one writer at once. */
const LANES = 3

export type Writer = {
  readonly pace: (go: boolean) => void
  /** Resolves once what is under way has ended. */
  readonly finish: () => Promise<void>
}

/** Writes transactions until it is told to finish. Each is named in the journal before it is sent, and so is what it came to. */
export function startWriter(station: Station, onWritten: (events: number) => void): Writer {
  const { assignment, trueClock, journal } = station
  let count = 0
  let finishing = false
  let gate = Promise.withResolvers<void>()
  gate.resolve()

  const writeOne = async (): Promise<void> => {
    const tx = `${assignment.name}.${++count}`
    const plan = planTransaction({ random: trueClock.random, tx, count })
    const line = { tx, process: assignment.name }
    journal({ kind: 'intent', ...line, at: trueClock.now() })
    const { outcome, events } = await attempt(station, { tx, plan })
    journal({ kind: 'outcome', ...line, outcome, at: trueClock.now() })
    onWritten(events)
  }
  const lane = async (): Promise<void> => {
    while (!finishing) {
      await gate.promise
      if (!finishing) await writeOne()
    }
  }
  const lanes = Promise.all(Array.from({ length: LANES }, lane))

  return {
    pace: (go) => {
      gate.resolve()
      if (!go) gate = Promise.withResolvers<void>()
    },
    finish: async () => {
      finishing = true
      gate.resolve()
      await lanes
    },
  }
}

type Named = { readonly tx: string; readonly plan: PlannedTransaction }

async function attempt(station: Station, named: Named): Promise<{ readonly outcome: string; readonly events: number }> {
  try {
    const { duplicate, events } = await send(station, named)
    return duplicate ? { outcome: 'duplicate', events: 0 } : { outcome: 'committed', events: events.length }
  } catch (error) {
    return { outcome: isOutboxError(error) ? error.code : `sdk: ${errorName(error)}`, events: 0 }
  }
}

async function send(station: Station, { tx, plan }: Named) {
  const { outbox } = station
  const table = station.assignment.effectsTable
  switch (plan.kind) {
    case 'plain':
      return outbox.transact({ writes: [record(table, tx, plan.events)], events: plan.events })
    case 'refused':
      return outbox.transact({ writes: [record(table, tx, plan.events), mustExist(table)], events: plan.events })
    case 'keyed': {
      const { key, variant, onExisting, events } = plan
      const shared = { key: { S: key }, variant: { N: String(variant) }, mode: { S: onExisting } }
      return outbox.transact({ writes: [record(table, tx, events.slice(1), shared)], events, onExisting })
    }
    case 'collected':
      return outbox.collect(async (work) => {
        work.write(record(table, tx, plan.events))
        await work.collect((inner) => inner.enqueue(...plan.events))
        await work
          .collect((inner) => {
            inner.enqueue(...plan.dropped)
            throw new Error('dropped')
          })
          .catch(() => {})
      })
    case 'numbered': {
      const version = await readVersion(station, plan.aggregate)
      const events = plan.events.map((event, n): NewEvent<EventData> => ({ ...event, sequence: version + n + 1 }))
      const writes = [
        record(table, tx, events),
        advance(table, { aggregate: plan.aggregate, version, by: events.length }),
      ]
      return outbox.transact({ writes, events })
    }
  }
}

/** The transaction's own record: stored if and only if all of its events are. */
function record(
  table: string,
  tx: string,
  own: readonly NewEvent[],
  more: NonNullable<AttributeWrite['Put']>['Item'] = {},
): AttributeWrite {
  return {
    Put: {
      TableName: table,
      Item: { pk: { S: `TX#${tx}` }, events: { N: String(own.length) }, ...more },
      ConditionExpression: 'attribute_not_exists(pk)',
    },
  }
}

function mustExist(table: string): AttributeWrite {
  return {
    ConditionCheck: { TableName: table, Key: { pk: { S: 'nothing' } }, ConditionExpression: 'attribute_exists(pk)' },
  }
}

async function readVersion({ clients, assignment }: Station, aggregate: string): Promise<number> {
  const { Item } = await clients.dynamo.send(
    new GetItemCommand({
      TableName: assignment.effectsTable,
      Key: { pk: { S: `A#${aggregate}` } },
      ConsistentRead: true,
    }),
  )
  return Number(Item?.['version']?.N ?? 0)
}

type Advance = { readonly aggregate: string; readonly version: number; readonly by: number }

function advance(table: string, { aggregate, version, by }: Advance): AttributeWrite {
  return {
    Update: {
      TableName: table,
      Key: { pk: { S: `A#${aggregate}` } },
      UpdateExpression: 'SET version = :next',
      ConditionExpression: version === 0 ? 'attribute_not_exists(version)' : 'version = :seen',
      ExpressionAttributeValues: {
        ':next': { N: String(version + by) },
        ...(version === 0 ? {} : { ':seen': { N: String(version) } }),
      },
    },
  }
}
