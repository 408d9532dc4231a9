import { BatchWriteItemCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Identity } from '../../src/event/identity.ts'
import { marshalItem } from '../../src/outbox/attribute-form.ts'
import { buildRow } from '../../src/outbox/build-row.ts'
import { type OutboxRow, rowKey } from '../../src/outbox/row.ts'
import { REGION } from './clients.ts'
import type { Item } from './filled-engine.ts'

export const SOURCE = 'shop'
export const TYPE = 'order.placed'

/** 300 bytes as JSON: with them a row has less than 1 KB. */
export const DATA = { orderId: 'order-4711', customerId: 'customer-42', total: 42.5, note: 'x'.repeat(230) }

/** As `createOutbox` writes it. */
export function pendingRow(identity: Identity, created: number): OutboxRow {
  const draft = { event: { ...identity, type: TYPE, data: DATA, headers: {} }, dataText: JSON.stringify(DATA) }
  return buildRow(draft as Parameters<typeof buildRow>[0], identity, {
    created,
    instance: '0123456789',
    region: REGION,
  })
}

/** How pending rows lie: all unordered, or in groups of so many. */
export type Layout = { readonly perGroup?: number }

/** `name` keeps rounds apart. */
export function identities(count: number, name: string, { perGroup }: Layout = {}): Identity[] {
  return Array.from({ length: count }, (_, n): Identity => {
    if (perGroup === undefined) return { source: SOURCE, key: `${name}-${n}` }
    return { source: SOURCE, group: `${name}-${Math.floor(n / perGroup)}`, sequence: (n % perGroup) + 1 }
  })
}

/** Half of them unordered, half in groups. */
export function mixedIdentities(count: number, name: string, perGroup: number): Identity[] {
  return [...identities(count / 2, name), ...identities(count / 2, name, { perGroup })]
}

export function pendingItem(identity: Identity, created: number): Item {
  return marshalItem({ ...pendingRow(identity, created) })
}

/** Small rows that were relayed long ago: half of them unordered, half numbered from 1 in so many groups. */
export function* relayedItems(count: number, groups: number): Iterable<Item> {
  for (let n = 0; n < count; n += 1) {
    const place = Math.floor(n / 2)
    const key =
      n % 2 === 0
        ? rowKey({ source: SOURCE, key: `old-${n}` })
        : rowKey({ source: SOURCE, group: oldGroup(place % groups), sequence: Math.floor(place / groups) + 1 })
    yield { pk: { S: key.pk }, sk: { S: key.sk }, ...RELAYED }
  }
}

/** Name of a group that has relayed rows. */
export function oldGroup(n: number): string {
  return `old-${n}`
}

const RELAYED: Item = {
  v: { N: '1' },
  region: { S: REGION },
  type: { S: TYPE },
  body: { S: '{}' },
  created: { N: '1700000000000' },
  instance: { S: '0123456789' },
  due: { N: '1700000120000' },
  expires: { N: '4000000000' },
}

/** Writes rows 25 a request. */
export async function putItems(client: DynamoDBClient, tableName: string, items: readonly Item[]): Promise<void> {
  const pages = Array.from({ length: Math.ceil(items.length / 25) }, (_, n) => items.slice(n * 25, (n + 1) * 25))
  const queue = pages.values()
  const lane = async (): Promise<void> => {
    for (const page of queue) {
      const RequestItems = { [tableName]: page.map((Item) => ({ PutRequest: { Item: { ...Item } } })) }
      const { UnprocessedItems } = await client.send(new BatchWriteItemCommand({ RequestItems }))
      if (Object.keys(UnprocessedItems ?? {}).length > 0) throw new Error('the engine left rows unwritten')
    }
  }
  await Promise.all([lane(), lane()])
}
