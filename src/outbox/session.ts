import type { AttributeWrite, ClientKind, ClientWrite, SendTransaction } from './client-write.ts'
import type { OwnAction } from './own-action.ts'
import type { RowKey } from './row.ts'

/** The port to DynamoDB: what differs between the two clients, and the reads the write path needs. */
export type Session = {
  readonly kind: ClientKind
  /** Region of the client. */
  readonly region: () => Promise<string>
  /** An action of the caller's in DynamoDB's own form, to be measured and compared. Throws what marshalling throws. */
  readonly toAttributes: (write: ClientWrite) => AttributeWrite
  /** An action of ours in the form of the client. */
  readonly fromOwn: (action: OwnAction) => ClientWrite
  /** The old item of a failed condition in the form of the client, in whichever form it came. */
  readonly toClientForm: (item: Readonly<Record<string, unknown>>) => unknown
  readonly send: SendTransaction
  /** A row of the outbox table, consistently read; undefined if there is none. */
  readonly readRow: (tableName: string, key: RowKey) => Promise<Readonly<Record<string, unknown>> | undefined>
  /** The row with the highest number of a group, consistently read (one read unit); undefined for an empty group. */
  readonly highestRow: (tableName: string, pk: string) => Promise<HighestRow | undefined>
}

/** `created` in ms since 1970; 0 for a row that does not say. */
export type HighestRow = { readonly sequence: number; readonly created: number }
