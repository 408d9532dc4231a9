import type { RowKey, RowState } from '../outbox/row.ts'
import { ALL_DEAD_SHARDS, ALL_PENDING_SHARDS } from '../outbox/row.ts'
import { eachAtOnce } from '../pool.ts'
import { checkOptions, invalidSetting } from '../settings.ts'
import type { Watch } from './dead-letters.ts'
import { indexedRows, readSummaries } from './dynamo-outbox-rows.ts'
import type { RowSummary } from './row-summary.ts'
import { type ScanConsent, scanFor } from './scan.ts'
import { type CheckedSystem, checkSystem, knownPullShards, type OutboxSystem } from './system.ts'

export type ListOptions = Watch &
  ScanConsent & {
    readonly state: RowState
    /** Rows given at most. Default 1000. */
    readonly limit?: number
  }

export type RowList = {
  readonly rows: readonly RowSummary[]
  /** There are more than were asked for, or the work was ended. */
  readonly more: boolean
}

const AT_ONCE = 8
const DEFAULT_LIMIT = 1000

/**
 * Rows of one state, without their data. Pending and dead ones, and those of pull workers if their sources are named, come
 * from the index, the longest due first, at one query a shard and one read for 100 rows; all others need a scan of the whole
 * table, which is asked for first. Throws `INVALID_SETTING`, `INVALID_USE` for a scan that nobody agreed to, and errors of the AWS SDK as they are.
 */
export async function listRows(system: OutboxSystem, options: ListOptions): Promise<RowList> {
  checkOptions('listRows', options, ['state', 'limit', 'onEstimate', 'signal', 'onProgress'])
  const { state, limit = DEFAULT_LIMIT } = options
  if (!['pending', 'pull', 'dead', 'relayed'].includes(state))
    throw invalidSetting('state', 'must be "pending", "pull", "dead" or "relayed"')
  if (!Number.isInteger(limit) || limit < 1) throw invalidSetting('limit', 'must be a whole number from 1')
  const checked = checkSystem('listRows', system)
  const shards = shardsOf(checked, state)
  if (shards.length > 0) return listShards(checked, { ...options, shards, limit })
  const { rows, more } = await scanFor(checked, { ...options, limit, isWanted: (row) => row.state === state })
  return { rows: [...rows].sort((a, b) => (a.created ?? 0) - (b.created ?? 0)), more }
}

/** Empty for a state that no index lists, or not all of it. */
function shardsOf(system: CheckedSystem, state: RowState): readonly string[] {
  if (state === 'pending') return ALL_PENDING_SHARDS
  if (state === 'dead') return ALL_DEAD_SHARDS
  return state === 'pull' ? knownPullShards(system) : []
}

type ShardList = ListOptions & { readonly shards: readonly string[]; readonly limit: number }

async function listShards(system: CheckedSystem, list: ShardList): Promise<RowList> {
  const { state, shards, limit, signal, onProgress } = list
  const found: (RowKey & { readonly due: number })[] = []
  let cut = false
  const readShard = async (shard: string): Promise<void> => {
    if (signal?.aborted) return
    let mine = 0
    for await (const page of indexedRows(system, shard)) {
      found.push(...page)
      mine += page.length
      onProgress?.(found.length)
      // No shard can add more than the limit: its rows come in the order of their due.
      if (mine > limit || signal?.aborted) break
    }
    cut ||= mine > limit
  }
  await eachAtOnce(shards, AT_ONCE, readShard)
  const wanted = found.sort((a, b) => a.due - b.due).slice(0, limit)
  const rows = await readSummaries(system, wanted)
  return {
    rows: rows.filter((row) => row.state === state).sort((a, b) => (a.due ?? 0) - (b.due ?? 0)),
    more: cut || found.length > limit || signal?.aborted === true,
  }
}
