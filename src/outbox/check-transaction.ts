import { OutboxError } from '../errors.ts'
import type { AttributeItem } from './attribute-form.ts'
import type { AttributeWrite } from './client-write.ts'
import { itemSize } from './item-size.ts'
import { sameItem, type TargetedItem, targetOf } from './item-target.ts'

/** Limits of `TransactWriteItems`. https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html */
const MAX_ACTIONS = 100
export const MAX_ITEM_BYTES = 400 * 1024
export const MAX_TRANSACTION_BYTES = 4 * 1024 * 1024
/** Kept free in a row for what is added later: shard, due, redrives, accepted, failure, expires. */
export const ROW_RESERVE_BYTES = 2048

/** The actions of one transaction in DynamoDB's own form, in the order they are sent. */
export type TransactionParts = {
  readonly writes: readonly AttributeWrite[]
  readonly guards: readonly AttributeWrite[]
  readonly rows: readonly AttributeItem[]
  /** Table of the rows. */
  readonly tableName: string
}

/**
 * Refuses what DynamoDB would refuse, with the arithmetic, as `INVALID_TRANSACTION`. Never refuses what DynamoDB takes:
 * where the key of an item is not known (a lone `Put`), or its size (an `Update`), DynamoDB itself decides.
 */
export function checkTransaction(parts: TransactionParts): void {
  const { writes, guards, rows } = parts
  const count = writes.length + guards.length + rows.length
  if (count > MAX_ACTIONS) {
    const sum = `${writes.length} writes + ${guards.length} of the ledger + ${rows.length} events = ${count} actions`
    throw refused(
      `${sum}; a transaction holds at most ${MAX_ACTIONS}. Split the work into several, each complete in itself`,
    )
  }
  checkSizes(parts)
  checkTargets(parts)
}

function checkSizes({ writes, guards, rows }: TransactionParts): void {
  let total = 0
  const add = (path: string, bytes: number, reserve: number) => {
    if (bytes + reserve > MAX_ITEM_BYTES) {
      const kept = reserve === 0 ? '' : ` + ${reserve} kept free`
      throw refused(
        `${path} has ${bytes} bytes${kept}; an item holds at most ${MAX_ITEM_BYTES}. Store large data apart`,
        path,
      )
    }
    total += bytes
  }
  for (const [n, write] of writes.entries()) add(`writes[${n}]`, knownSize(write), 0)
  for (const [n, guard] of guards.entries()) add(`guards[${n}]`, knownSize(guard), 0)
  for (const [n, row] of rows.entries()) add(`events[${n}]`, itemSize(row), ROW_RESERVE_BYTES)
  if (total <= MAX_TRANSACTION_BYTES) return
  throw refused(`the items have ${total} bytes together; a transaction holds at most ${MAX_TRANSACTION_BYTES}`)
}

/** Bytes the item has at least: a whole one for a put, else its key. */
function knownSize(write: AttributeWrite): number {
  return itemSize(write.Put?.Item ?? write.Update?.Key ?? write.Delete?.Key ?? write.ConditionCheck?.Key ?? {})
}

function checkTargets({ writes, guards, rows, tableName }: TransactionParts): void {
  const targets = [...writes, ...guards].map(targetOf)
  const keys = rows.map(
    ({ pk, sk }): TargetedItem => ({ table: tableName, key: { ...(pk && { pk }), ...(sk && { sk }) } }),
  )
  const seen = [...targets, ...keys]
  const byTable = Map.groupBy(seen.entries(), ([, { table }]) => table)
  for (const entries of byTable.values()) {
    if (entries.length === 1) continue
    const pair = sameItem([...entries])
    if (pair === undefined) continue
    const [first, second] = pair
    throw refused(
      `actions ${first} and ${second} are on one item. DynamoDB takes one action an item: join them into one`,
    )
  }
}

function refused(text: string, path?: string): OutboxError {
  const details = path === undefined ? {} : { details: { path } }
  return new OutboxError('INVALID_TRANSACTION', `Not sent: ${text}.`, details)
}
