import type { EntryStatus } from '../../../src/ledger/entry.ts'
import type { RowState } from '../../../src/outbox/row.ts'
import type { EventData } from '../workload/event-data.ts'
import type { JournalLine } from './journal-line.ts'

/** A row of the outbox table. */
export type StoredRow = {
  readonly id: string
  readonly pk: string
  readonly sk: string
  readonly type: string
  readonly source: string
  readonly key: string
  readonly group?: string
  readonly sequence?: number
  readonly data: EventData
  readonly created: number
  readonly state: RowState
  readonly redrives: number
  readonly failure?: string
  /** Epoch seconds. */
  readonly expires?: number
}

/** A row of the ledger. */
export type StoredEntry = {
  readonly id: string
  readonly handler: string
  readonly status: EntryStatus
  readonly attempts: number
  readonly life: number
}

/** What a handler committed: once, if all is well. `late`: an event with a higher number of its group came before. */
export type StoredEffect = {
  readonly id: string
  readonly handler: string
  readonly times: number
  readonly late: boolean
}

/** A transaction's own record. `events`: how many of its events bear its name. */
export type StoredTransaction = {
  readonly tx: string
  readonly events: number
  readonly shared?: { readonly key: string; readonly variant: number; readonly mode: 'cancel' | 'commit' }
}

export type StoredAggregate = { readonly name: string; readonly version: number }

/** All that is stored at the end. */
export type Books = {
  readonly rows: readonly StoredRow[]
  readonly entries: readonly StoredEntry[]
  readonly effects: readonly StoredEffect[]
  readonly transactions: readonly StoredTransaction[]
  readonly aggregates: readonly StoredAggregate[]
  readonly journal: readonly JournalLine[]
  /** Messages left, by queue. */
  readonly left: Readonly<Record<string, number>>
}

export type BreachKind = 'lost' | 'doubled' | 'reordered' | 'deadUnrun' | 'stuck'

/** One way in which the promise did not hold. */
export type Breach = { readonly kind: BreachKind; readonly what: string; readonly id?: string; readonly tx?: string }
