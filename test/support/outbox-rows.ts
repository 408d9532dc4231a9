import { formatSequence } from '../../src/event/identity.ts'
import { GRACE_MS, pendingShard, type RowKey, rowKey } from '../../src/outbox/row.ts'
import type { Attribute, RowImage } from '../../src/relay/row-image.ts'

export const REGION = 'us-east-1'

export type RowOptions = {
  readonly source?: string
  readonly type?: string
  readonly body?: string
  readonly region?: string
  /** ms */
  readonly created?: number
  readonly due?: number
  readonly shard?: string
  readonly redrives?: number
  readonly accepted?: readonly string[]
  /** Attributes put over the others; undefined takes one away. */
  readonly extra?: Readonly<Record<string, Attribute | undefined>>
}

/** An unordered row as `createOutbox` writes it. */
export function unorderedRow(key: string, options: RowOptions = {}): RowImage {
  return row(rowKey({ source: options.source ?? 'shop', key }), options)
}

/** An ordered row. */
export function orderedRow(group: string, sequence: number, options: RowOptions = {}): RowImage {
  return row(rowKey({ source: options.source ?? 'shop', group, sequence }), options)
}

/** A row that was relayed: no `shard`, but `expires`. */
export function relayedRow(image: RowImage): RowImage {
  const { shard: _, ...rest } = image
  return { ...rest, expires: { N: '2000000000' } }
}

export function deadRow(image: RowImage): RowImage {
  return { ...image, shard: { S: 'd#0' }, failure: { S: 'refused' } }
}

export function row(key: RowKey, options: RowOptions): RowImage {
  const created = options.created ?? 1_700_000_000_000
  const { redrives, accepted, extra = {} } = options
  const image: Record<string, Attribute | undefined> = {
    pk: { S: key.pk },
    sk: { S: key.sk },
    v: { N: '1' },
    region: { S: options.region ?? REGION },
    type: { S: options.type ?? 'order.placed' },
    body: { S: options.body ?? JSON.stringify({ of: `${key.pk} ${key.sk}` }) },
    created: { N: String(created) },
    instance: { S: 'i1' },
    shard: { S: options.shard ?? pendingShard(key) },
    due: { N: String(options.due ?? created + GRACE_MS) },
    ...(redrives === undefined ? {} : { redrives: { N: String(redrives) } }),
    ...(accepted === undefined ? {} : { accepted: { SS: [...accepted] } }),
    ...extra,
  }
  return Object.fromEntries(
    Object.entries(image).filter((entry): entry is [string, Attribute] => entry[1] !== undefined),
  )
}

export function keyOfRow(image: RowImage): RowKey {
  return { pk: image['pk']?.S ?? '', sk: image['sk']?.S ?? '' }
}

export function sk(sequence: number): string {
  return formatSequence(sequence)
}

/** The state of a row: pending, dead, or relayed. */
export function stateOf(image: RowImage | undefined): 'pending' | 'dead' | 'relayed' | 'missing' {
  if (image === undefined) return 'missing'
  const shard = image['shard']?.S
  if (shard === undefined) return 'relayed'
  return shard.startsWith('d#') ? 'dead' : 'pending'
}
