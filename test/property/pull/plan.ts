import fc from 'fast-check'
import type { Troubles } from '../stage/stage.ts'
import { faultsOf, outagesOf } from '../stage/troubles.ts'

/** Seconds from the start. */
type At = { readonly at: number }

export type Step = At &
  (
    | { readonly do: 'ordered'; readonly group: string; readonly count: number }
    | { readonly do: 'keyed'; readonly key: string }
    /** More of a group than a look reads. */
    | { readonly do: 'flood'; readonly count: number }
    /** A row of another Region, one that cannot be understood, one of a later version. */
    | { readonly do: 'odd'; readonly kind: Odd }
    /** Every dead row goes back, by one operator or two at once. */
    | { readonly do: 'redrive'; readonly operators: number }
  )

export type Odd = 'elsewhere' | 'malformed' | 'newer'

/** What is done with a claim; of `runPullWorker`, what a handler does in a run. */
export type Act = LoopAct | HandlerAct
export type LoopAct =
  | 'acknowledge'
  | 'fail'
  | 'release'
  /** For minutes: what stands behind it waits, and nothing else. */
  | 'release-long'
  | 'renew'
  | 'dead-letter'
  /** Answers when its lease is over. */
  | 'late'
  | 'forget'
  /** Answers inside of `collect`, where nothing may be answered. */
  | 'in-collect'
export type HandlerAct = 'ok' | 'throw' | 'permanent' | 'busy' | 'slow' | 'overlong' | 'die' | 'commit-throw'

export type PullPlan = Troubles & {
  readonly kind: 'loop' | 'handlers'
  readonly steps: readonly Step[]
  /** Processes at once. */
  readonly workers: number
  /** Events at once of one process. */
  readonly room: number
  readonly leaseSeconds: number
  /** Claims beyond what is needed. */
  readonly spareClaims: number
  /** Acts by claim or run, one list for each event; afterwards all goes well. */
  readonly scripts: readonly (readonly Act[])[]
  /** Entries of a page of the index at most: DynamoDB ends a page where it likes. */
  readonly page: number
}

const at = fc.nat({ max: 60 })
const STEPS = {
  ordered: fc.record({
    do: fc.constant('ordered' as const),
    at,
    group: fc.constantFrom('g', 'h'),
    count: fc.integer({ min: 1, max: 4 }),
  }),
  keyed: fc.record({ do: fc.constant('keyed' as const), at, key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f') }),
  flood: fc.record({ do: fc.constant('flood' as const), at: fc.nat({ max: 10 }), count: fc.constantFrom(14, 18) }),
  odd: fc.record({
    do: fc.constant('odd' as const),
    at,
    kind: fc.constantFrom<Odd>('elsewhere', 'malformed', 'newer'),
  }),
  redrive: fc.record({
    do: fc.constant('redrive' as const),
    at: fc.nat({ max: 120 }),
    operators: fc.constantFrom(1, 2),
  }),
}

const LOOP_ACTS: readonly LoopAct[] = [
  'acknowledge',
  'acknowledge',
  'fail',
  'fail',
  'release',
  'renew',
  'dead-letter',
  'late',
  'forget',
  'in-collect',
]
const HANDLER_ACTS: readonly HandlerAct[] = [
  'ok',
  'ok',
  'throw',
  'permanent',
  'busy',
  'slow',
  'overlong',
  'die',
  'die',
  'commit-throw',
]

const PULL_OPS = ['UpdateItem', 'UpdateItem', 'UpdateItem', 'Query', 'GetItem', 'TransactGetItems', 'any']
const LEDGER_OPS = ['BatchExecuteStatement', 'TransactWriteItems', 'Effect']

export type Focus = Pick<PullPlan, 'kind'> & {
  readonly steps: fc.Arbitrary<Step>
  readonly acts: readonly Act[]
  readonly pages: readonly number[]
}

const WIDE = 250
export const FOCI = {
  loop: {
    kind: 'loop',
    steps: fc.oneof(STEPS.ordered, STEPS.ordered, STEPS.keyed, STEPS.odd, STEPS.redrive),
    acts: LOOP_ACTS,
    pages: [WIDE, WIDE, 2],
  },
  blocked: {
    kind: 'loop',
    steps: fc.oneof(STEPS.flood, STEPS.keyed, STEPS.keyed, STEPS.ordered),
    acts: ['release-long', 'acknowledge'],
    pages: [2],
  },
  handlers: {
    kind: 'handlers',
    steps: fc.oneof(STEPS.ordered, STEPS.ordered, STEPS.keyed, STEPS.keyed, STEPS.redrive),
    acts: HANDLER_ACTS,
    pages: [WIDE],
  },
} satisfies Record<string, Focus>

export function planOf({ kind, steps, acts, pages }: Focus): fc.Arbitrary<PullPlan> {
  const ops = kind === 'loop' ? PULL_OPS : [...PULL_OPS, ...LEDGER_OPS]
  return fc.record({
    kind: fc.constant(kind),
    seed: fc.nat(),
    faults: faultsOf({ consumer: ops, operator: ['Query', 'UpdateItem'] }, [1, 4, 12, 25, 70]),
    outages: outagesOf('dynamo'),
    steps: fc.array(steps, { minLength: 1, maxLength: 6 }),
    workers: fc.integer({ min: 1, max: 3 }),
    room: fc.integer({ min: 1, max: 3 }),
    leaseSeconds: fc.constantFrom(20, 60),
    spareClaims: fc.nat({ max: 2 }),
    scripts: fc.array(fc.array(fc.constantFrom(...acts), { maxLength: 4 }), { minLength: 1, maxLength: 4 }),
    page: fc.constantFrom(...pages),
  })
}
