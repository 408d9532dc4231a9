import { awsError } from '../faults.ts'
import type { Table } from './table.ts'
import type { Item } from './values.ts'

/** What the parts of the model of DynamoDB share. */
export type Engine = {
  readonly now: () => number
  /** A number in [0, 1) for something that DynamoDB may do this way or that. */
  readonly luck: (...parts: readonly (string | number)[]) => number
  readonly wait: (ms: number) => Promise<void>
  /** Told of a write that its condition refused, with what stands there. */
  readonly onRefused: (table: string, item: Item | undefined) => void
  /** Throws for a table that does not exist. */
  readonly tableOf: (name: string | undefined) => Table
}

export function tableFinder(tables: ReadonlyMap<string, Table>): Engine['tableOf'] {
  return (name) => {
    const table = tables.get(name ?? '')
    if (table === undefined) throw awsError('ResourceNotFoundException')
    return table
  }
}
