import type { DescribeTableCommandInput, ScanCommandInput } from '@aws-sdk/client-dynamodb'
import { sha256 } from '../../../../src/event/identity.ts'
import type { Engine } from './engine.ts'
import { project } from './reads.ts'
import { keyOf } from './table.ts'
import type { Item } from './values.ts'

/** Items of a page at most: DynamoDB ends one at 1 MB, or where it likes. */
const LONGEST_PAGE = 6
/** How long it may lag behind. ms */
const STALE_MS = 1000

export type Scans = {
  readonly scan: (input: ScanCommandInput) => object
  readonly describe: (input: DescribeTableCommandInput) => object
}

/** Reads of a whole table: partitions by their hash, the items of one by their sort key; each item as it was up to a second ago. */
export function createScans({ now, luck, tableOf }: Pick<Engine, 'now' | 'luck' | 'tableOf'>): Scans {
  let count = 0
  const scan: Scans['scan'] = ({ TableName, Segment = 0, TotalSegments = 1, ExclusiveStartKey, ...rest }) => {
    count += 1
    const all = [...tableOf(TableName).slots].flatMap(([key, { item, before, changedAt }]) => {
      const seen = now() - changedAt < luck('stale', key, count) * STALE_MS ? before : item
      return seen === undefined ? [] : [seen]
    })
    const mine = all.filter((item) => Number.parseInt(placeOf(item).slice(0, 8), 16) % TotalSegments === Segment)
    const start = ExclusiveStartKey === undefined ? '' : placeOf(ExclusiveStartKey as Item)
    const left = mine.filter((item) => placeOf(item) > start).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    const page = left.slice(0, 1 + Math.floor(luck('page', count) * LONGEST_PAGE))
    const { pk, sk } = page.at(-1) ?? {}
    const more = page.length < left.length && pk && sk ? { LastEvaluatedKey: { pk, sk } } : {}
    return { Items: page.map((item) => project(item, rest)), Count: page.length, ...more }
  }
  const describe: Scans['describe'] = ({ TableName }) => {
    const { length } = tableOf(TableName).items()
    return { Table: { ItemCount: length, TableSizeBytes: 1000 * length } }
  }
  return { scan, describe }
}

function placeOf(item: Item): string {
  return `${sha256(item.pk?.S ?? '')} ${keyOf(item)}`
}
