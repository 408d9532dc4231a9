import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { type AttributeValue, type DynamoDBClient, paginateScan } from '@aws-sdk/client-dynamodb'
import { unmarshall } from '@aws-sdk/util-dynamodb'
import { decodeBody } from '../../../src/event/codec.ts'
import { parseEntry } from '../../../src/ledger/entry.ts'
import { rowState } from '../../../src/outbox/row.ts'
import type { EventData } from '../workload/event-data.ts'
import type { Books, StoredEffect, StoredEntry, StoredRow, StoredTransaction } from './books.ts'
import type { JournalLine } from './journal-line.ts'

export type Tables = { readonly outboxTable: string; readonly ledgerTable: string; readonly effectsTable: string }

/** Reads the three tables whole, and the journal. */
export async function readBooks(dynamo: DynamoDBClient, tables: Tables, journal: string): Promise<Omit<Books, 'left'>> {
  const rows: StoredRow[] = []
  for await (const item of scan(dynamo, tables.outboxTable)) rows.push(...readRow(item))
  const entries: StoredEntry[] = []
  for await (const item of scan(dynamo, tables.ledgerTable)) entries.push(...readEntry(item))
  const own = {
    effects: [] as StoredEffect[],
    transactions: [] as StoredTransaction[],
    aggregates: [] as { name: string; version: number }[],
  }
  for await (const item of scan(dynamo, tables.effectsTable)) readOwn(item, own)
  return { rows, entries, ...own, journal: await readJournal(journal) }
}

type Item = Readonly<Record<string, unknown>>

async function* scan(client: DynamoDBClient, TableName: string): AsyncGenerator<Item> {
  for await (const { Items = [] } of paginateScan({ client }, { TableName, ConsistentRead: true }))
    for (const item of Items) yield unmarshall(item as Record<string, AttributeValue>)
}

/** Rows without a body are none of an event's: the sweeper's heartbeat. */
function readRow(item: Item): StoredRow[] {
  const decoded = decodeBody(String(item['body'] ?? ''))
  if (!decoded.ok) return []
  const { id, type, source, key, group, sequence, data } = decoded.event
  return [
    {
      id,
      type,
      source,
      key,
      data: data as EventData,
      pk: String(item['pk']),
      sk: String(item['sk']),
      created: Number(item['created']),
      state: rowState(item['shard'] as string | undefined),
      redrives: Number(item['redrives'] ?? 0),
      ...(group === undefined || sequence === undefined ? {} : { group, sequence }),
      ...(item['failure'] === undefined ? {} : { failure: String(item['failure']) }),
      ...(item['expires'] === undefined ? {} : { expires: Number(item['expires']) }),
    },
  ]
}

function readEntry(item: Item): StoredEntry[] {
  const entry = parseEntry(item)
  if (entry === undefined) throw new Error('the ledger holds a row that cannot be read')
  const { id, name, status, attempts, life } = entry
  return [{ id, handler: name, status, attempts, life }]
}

type Own = {
  effects: StoredEffect[]
  transactions: StoredTransaction[]
  aggregates: { name: string; version: number }[]
}

function readOwn(item: Item, own: Own): void {
  const pk = String(item['pk'])
  const [kind, handler = '', id = ''] = pk.split('#')
  if (kind === 'E') own.effects.push({ id, handler, times: Number(item['times']), late: item['late'] === true })
  if (kind === 'A') own.aggregates.push({ name: handler, version: Number(item['version']) })
  if (kind !== 'TX') return
  const tx = pk.slice('TX#'.length)
  const shared =
    item['key'] === undefined
      ? {}
      : {
          shared: {
            key: String(item['key']),
            variant: Number(item['variant']),
            mode: item['mode'] as 'cancel' | 'commit',
          },
        }
  own.transactions.push({ tx, events: Number(item['events']), ...shared })
}

async function readJournal(path: string): Promise<JournalLine[]> {
  const lines: JournalLine[] = []
  for await (const line of createInterface({ input: createReadStream(path) }))
    if (line !== '') lines.push(JSON.parse(line) as JournalLine)
  return lines
}
