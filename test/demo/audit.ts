import { DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb'
import { decodeBody, type Event } from '../../src/index.ts'
import type { LocalAws } from '../../src/testing/index.ts'
import { SHOP_TABLE, SPEED } from './shop.ts'

/** All that is stored at the end. */
export type Books = {
  readonly events: readonly StoredEvent[]
  readonly shop: readonly Readonly<Record<string, unknown>>[]
  readonly ledger: readonly Readonly<Record<string, unknown>>[]
}

type StoredEvent = { readonly event: Event; readonly created: number; readonly relayed: boolean }

/** Reads the three tables, whole. */
export async function readBooks({ dynamo, outboxTable, ledgerTable }: LocalAws): Promise<Books> {
  const client = DynamoDBDocumentClient.from(dynamo)
  const scan = async (TableName: string) => {
    const items: Record<string, unknown>[] = []
    for await (const page of paginateScan({ client }, { TableName, ConsistentRead: true }))
      items.push(...(page.Items ?? []))
    return items
  }
  const [rows, shop, ledger] = [await scan(outboxTable), await scan(SHOP_TABLE), await scan(ledgerTable)]
  const events = rows.flatMap((row) => {
    const decoded = decodeBody(String(row['body']))
    return decoded.ok
      ? [{ event: decoded.event, created: Number(row['created']), relayed: row['shard'] === undefined }]
      : []
  })
  return { events, shop, ledger }
}

export type Figures = {
  readonly orders: number
  readonly events: number
  readonly delivered: number
  readonly lost: number
  readonly doubled: number
  readonly outOfOrder: number
  readonly redriven: number
  readonly duplicatesSuppressed: number
  readonly latencyP50Ms: number
  readonly latencyP99Ms: number
}

/** Handlers that the ledger holds as dead. */
export function countDead({ ledger }: Books): number {
  return ledger.filter(({ status }) => status === 'dead').length
}

/** Counts what was lost, doubled or out of order, from what is stored alone. `stocked` is what lay on the shelf. */
export function audit(books: Books, stocked: number): Figures {
  const items = (prefix: string) => books.shop.filter(({ pk }) => String(pk).startsWith(`${prefix}#`))
  const byOrder = (prefix: string) => new Map(items(prefix).map((item) => [String(item['orderId']), item]))
  const effects = { RESERVATION: byOrder('RESERVATION'), MAIL: byOrder('MAIL'), SHIPMENT: byOrder('SHIPMENT') }
  const effectOf = ({ event }: StoredEvent) => effects[effectName(event.type)].get(orderOf(event))
  const handled = books.events.filter(effectOf)
  const redriven = redrivenIds(books)

  const shelved = items('STOCK').reduce((sum, { available }) => sum + Number(available), 0)
  const reserved = [...effects.RESERVATION.values()].filter(({ outcome }) => outcome === 'reserved').length
  const extraShipments = [...effects.SHIPMENT.values()].reduce((sum, { times }) => sum + Number(times) - 1, 0)
  const latencies = handled
    .filter(({ event }) => !redriven.has(event.id))
    .map((stored) => (Number(effectOf(stored)?.['at']) - stored.created) / SPEED)
    .sort((a, b) => a - b)
  const orders = items('ORDER').length
  return {
    orders,
    events: books.events.length,
    delivered: handled.filter(({ relayed }) => relayed).length,
    // Three events to an order: the two it is placed with, and what became of its stock.
    lost: books.events.length - handled.length + Math.max(0, 3 * orders - books.events.length),
    doubled: extraShipments + Math.abs(stocked - shelved - reserved),
    outOfOrder: countOutOfOrder(
      handled.filter(({ event }) => !redriven.has(event.id)),
      (stored) => Number(effectOf(stored)?.['at']),
    ),
    redriven: redriven.size,
    duplicatesSuppressed: [...effects.MAIL.values()].reduce((sum, { asked }) => sum + Number(asked) - 1, 0),
    latencyP50Ms: Math.round(latencies[Math.floor(latencies.length * 0.5)] ?? 0),
    latencyP99Ms: Math.round(latencies[Math.floor(latencies.length * 0.99)] ?? 0),
  }
}

function effectName(type: string): 'RESERVATION' | 'MAIL' | 'SHIPMENT' {
  if (type === 'order.placed') return 'RESERVATION'
  return type === 'order.confirmation-requested' ? 'MAIL' : 'SHIPMENT'
}

function orderOf({ data }: Event): string {
  return String((data as { orderId?: unknown }).orderId)
}

/** Events that a handler was done with in a later round than their first. */
function redrivenIds({ events, ledger }: Books): ReadonlySet<string> {
  const firstLife = new Map(events.map(({ event }) => [event.id, event.life]))
  const later = ledger.filter(
    ({ pk, status, life }) => status === 'done' && Number(life) > (firstLife.get(String(pk)) ?? Infinity),
  )
  return new Set(later.map(({ pk }) => String(pk)))
}

/** Events of a group that were handled before one with a lower number. */
function countOutOfOrder(handled: readonly StoredEvent[], handledAt: (stored: StoredEvent) => number): number {
  const groups = Map.groupBy(
    handled.filter(({ event }) => event.group !== undefined),
    ({ event }) => event.group,
  )
  return [...groups.values()].reduce((sum, group) => {
    const inOrder = group.toSorted((a, b) => (a.event.sequence ?? 0) - (b.event.sequence ?? 0))
    const early = inOrder.filter((stored, n) => n > 0 && handledAt(stored) < handledAt(inOrder[n - 1] ?? stored))
    return sum + early.length
  }, 0)
}
