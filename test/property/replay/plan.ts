import fc from 'fast-check'
import type { Troubles } from '../stage/stage.ts'
import { faultsOf, outagesOf } from '../stage/troubles.ts'

export type EventType = 'one' | 'two' | 'both'

export type Row = {
  /** Undefined: an event without order. */
  readonly group: 'g' | 'h' | undefined
  readonly type: EventType
  readonly state: 'relayed' | 'pending' | 'dead' | 'forgotten'
  /** Whether a destination was down once, and it is noted who had it. */
  readonly noted: boolean
}

/** What is replayed: handlers, and the type of the events; all types if none is named. The same selection is the same replay. */
export type Selection = { readonly handlers: readonly string[]; readonly type?: EventType | undefined }

/** One operator, or two at once. `again`: also what has ended. */
export type Run = {
  readonly at: number
  readonly operators: number
  readonly selection: Selection
  readonly again: boolean
  readonly perSecond: number
}

export type ReplayPlan = Troubles & { readonly rows: readonly Row[]; readonly runs: readonly Run[] }

const type = fc.constantFrom<EventType>('one', 'both', 'both', 'two')
const row: fc.Arbitrary<Row> = fc.record({
  group: fc.constantFrom('g' as const, 'g' as const, 'g' as const, 'h' as const, undefined),
  type,
  state: fc.constantFrom(
    'relayed' as const,
    'relayed' as const,
    'relayed' as const,
    'relayed' as const,
    'pending' as const,
    'dead' as const,
    'forgotten' as const,
  ),
  noted: fc.boolean(),
})
const selection: fc.Arbitrary<Selection> = fc.record({
  handlers: fc.constantFrom(['a/count'], ['a/count'], ['a/count', 'b/count'], ['b/count', 'a/mail'], ['gone/count']),
  type: fc.constantFrom<EventType | undefined>(undefined, undefined, 'both'),
})
const run: fc.Arbitrary<Run> = fc.record({
  at: fc.nat({ max: 60 }),
  operators: fc.constantFrom(1, 1, 2),
  selection,
  again: fc.constantFrom(false, false, false, true),
  perSecond: fc.constantFrom(1, 2, 1000),
})

const OPERATIONS = {
  operator: ['UpdateItem', 'UpdateItem', 'Scan', 'any'],
  sweeper: ['SendMessageBatch', 'BatchExecuteStatement', 'UpdateItem'],
}

export const plans: fc.Arbitrary<ReplayPlan> = fc.record({
  seed: fc.nat(),
  faults: faultsOf(OPERATIONS, [1, 4, 12, 25]),
  outages: outagesOf('dynamo', 'q1.fifo', 'q2.fifo'),
  rows: fc.array(row, { minLength: 1, maxLength: 12 }),
  runs: fc.array(run, { minLength: 1, maxLength: 4 }),
})
