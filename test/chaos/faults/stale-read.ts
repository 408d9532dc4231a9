import { type ItemName, keyName } from './item-keys.ts'
import type { PartialAnswer } from './partial-answer.ts'
import type { Json, LayerRequest } from './request.ts'

/** Items that transactions have inserted lately. */
export type RecentInserts = {
  readonly note: (names: Iterable<ItemName>, now: number) => void
  readonly has: (name: ItemName, now: number) => boolean
}

/** A replica usually follows within a second. ms of the rig's clock. */
const FOLLOWS_MS = 3000

export function createRecentInserts(): RecentInserts {
  const inserted = new Map<ItemName, number>()
  return {
    note: (names, now) => {
      for (const [name, at] of inserted) {
        if (now - at <= FOLLOWS_MS) break
        inserted.delete(name)
      }
      for (const name of names) inserted.set(name, now)
    },
    has: (name, now) => now - (inserted.get(name) ?? Number.NEGATIVE_INFINITY) <= FOLLOWS_MS,
  }
}

type Key = Readonly<Record<string, { readonly S?: string } | undefined>>
type KeysOfTable = { readonly Keys: readonly Key[]; readonly ConsistentRead?: boolean }

/**
 * A read that does not ask for consistency may be answered by a replica that has not heard of a recent write: here of an
 * insert. Undefined for a read that asks for it, or for nothing recent.
 */
export function staleRead(
  { operation, input }: LayerRequest,
  isRecent: (name: ItemName) => boolean,
): PartialAnswer | undefined {
  if (operation === 'GetItem') return staleGet(input(), isRecent)
  return operation === 'BatchGetItem' ? staleBatchGet(input(), isRecent) : undefined
}

function staleGet(input: Json, isRecent: (name: ItemName) => boolean): PartialAnswer | undefined {
  const name = keyName(String(input['TableName']), input['Key'] as Key)
  if (input['ConsistentRead'] === true || !isRecent(name)) return undefined
  return { kind: 'stale read', forwarded: input, merge: ({ Item: _, ...rest }) => rest }
}

function staleBatchGet(input: Json, isRecent: (name: ItemName) => boolean): PartialAnswer | undefined {
  const asked = (input['RequestItems'] ?? {}) as Record<string, KeysOfTable>
  const isMissed = (table: string, key: Key): boolean =>
    asked[table]?.ConsistentRead !== true && isRecent(keyName(table, key))
  if (!Object.entries(asked).some(([table, { Keys }]) => Keys.some((key) => isMissed(table, key)))) return undefined
  return {
    kind: 'stale read',
    forwarded: input,
    merge: (answer) => {
      const tables = Object.entries((answer['Responses'] ?? {}) as Record<string, readonly Key[]>)
      const seen = tables.map(([table, items]) => [table, items.filter((item) => !isMissed(table, item))])
      return { ...answer, Responses: Object.fromEntries(seen) }
    },
  }
}
