/**
 * The one definition of both tables, shared by `createTables`, the local engines and the CDK constructs. Plain data in
 * the shape that `CreateTable` and CloudFormation have in common.
 */
export type TableDefinition = {
  readonly partitionKey: { readonly name: string; readonly type: 'S' }
  readonly sortKey: { readonly name: string; readonly type: 'S' }
  /** Epoch **seconds**; a row in milliseconds would never expire. */
  readonly timeToLiveAttribute: string
  readonly stream?: 'NEW_IMAGE'
  readonly index?: {
    readonly name: string
    readonly partitionKey: { readonly name: string; readonly type: 'S' }
    readonly sortKey: { readonly name: string; readonly type: 'N' }
    /** Projected beside the keys. */
    readonly include: readonly string[]
  }
}

/**
 * One row per event. The index is sparse: `shard` exists only while a row is pending or dead, so that every cost
 * follows what is pending, never what was ever written.
 */
export const OUTBOX_TABLE: TableDefinition = {
  partitionKey: { name: 'pk', type: 'S' },
  sortKey: { name: 'sk', type: 'S' },
  timeToLiveAttribute: 'expires',
  stream: 'NEW_IMAGE',
  index: {
    name: 'pending',
    partitionKey: { name: 'shard', type: 'S' },
    sortKey: { name: 'due', type: 'N' },
    include: ['created', 'type'],
  },
}

/** One row per (event, consumer/handler): who has claimed it, and what came of it. */
export const LEDGER_TABLE: TableDefinition = {
  partitionKey: { name: 'pk', type: 'S' },
  sortKey: { name: 'sk', type: 'S' },
  timeToLiveAttribute: 'expires',
}
