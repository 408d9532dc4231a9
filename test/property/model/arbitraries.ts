import fc from 'fast-check'
import type { Fault, FaultKind, Outage, Role } from './faults.ts'
import type { Act, Chapter, EventType, Plan, Step, StreamPlan, Trait } from './plan.ts'

/** Which part of the pipeline a property looks at: the steps and the troubles that come most often. */
export type Focus = {
  readonly steps: fc.Arbitrary<Step>
  readonly faults: fc.Arbitrary<Fault>
  readonly acts: readonly Act[]
  readonly maxChapters: number
}

const type = fc.constantFrom<EventType>('one', 'both', 'two')
const group = fc.constantFrom('g', 'h')
const trait = fc.option(fc.constantFrom<Trait>('follow', 'refused'), { nil: undefined, freq: 2 })
/** Seconds. */
const at = fc.nat({ max: 60 })

export const STEPS = {
  auto: fc.record({ do: fc.constant('auto' as const), at, group, count: fc.integer({ min: 1, max: 3 }), type, trait }),
  burst: fc.record({
    do: fc.constant('auto' as const),
    at,
    group,
    count: fc.integer({ min: 8, max: 12 }),
    type: fc.constant<EventType>('one'),
  }),
  numbered: fc.record({ do: fc.constant('numbered' as const), at, group, count: fc.integer({ min: 1, max: 3 }), type }),
  late: fc.record({ do: fc.constant('late' as const), at, group, type }),
  keyed: fc.record({
    do: fc.constant('keyed' as const),
    at,
    key: fc.constantFrom('k', 'l', 'm'),
    content: fc.constantFrom(1, 1, 1, 2),
    type,
    onExisting: fc.constantFrom('cancel' as const, 'commit' as const),
    trait,
  }),
  doomed: fc.record({ do: fc.constant('doomed' as const), at, key: fc.constantFrom('k', 'x') }),
  elsewhere: fc.record({ do: fc.constant('foreign-region' as const), at, key: fc.constant('far') }),
  replay: fc.record({ do: fc.constant('replay-stream' as const), at: fc.integer({ min: 30, max: 150 }) }),
  redriveRows: fc.record({ do: fc.constant('redrive-rows' as const), at: fc.nat({ max: 150 }) }),
  redriveMessages: fc.record({ do: fc.constant('redrive-messages' as const), at: fc.nat({ max: 150 }) }),
  again: fc.record({ do: fc.constant('send-again' as const), at }),
  job: fc.record({ do: fc.constant('job' as const), at, key: fc.constantFrom('j1', 'j2') }),
  many: fc.record({ do: fc.constant('many' as const), at, key: fc.constantFrom('x', 'y') }),
  flood: fc.record({ do: fc.constant('flood' as const), at: fc.constant(0), group: fc.constant('deep') }),
  last: fc.record({
    do: fc.constant('auto' as const),
    at: fc.integer({ min: 10, max: 60 }),
    group: fc.constant('deep'),
    count: fc.constant(1),
    type: fc.constant<EventType>('one'),
  }),
  byHand: fc.record({ do: fc.constant('redrive-by-hand' as const), at: fc.nat({ max: 150 }) }),
}

const OPERATIONS: Readonly<Record<Role, readonly string[]>> = {
  writer: ['TransactWriteItems', 'TransactWriteItems', 'Query', 'GetItem'],
  relay: [
    'SendMessageBatch',
    'BatchExecuteStatement',
    'Query',
    'UpdateItem',
    'TransactGetItems',
    'BatchGetItem',
    'any',
  ],
  sweeper: [
    'SendMessageBatch',
    'BatchExecuteStatement',
    'Query',
    'UpdateItem',
    'TransactGetItems',
    'BatchGetItem',
    'any',
  ],
  consumer: [
    'BatchExecuteStatement',
    'TransactWriteItems',
    'SendMessage',
    'ChangeMessageVisibilityBatch',
    'Effect',
    'any',
  ],
  operator: ['SendMessageBatch', 'DeleteMessageBatch', 'ReceiveMessage', 'UpdateItem', 'Query'],
}

const kind = fc.constantFrom<FaultKind>(
  'dropped',
  'lost',
  'retried',
  'throttled',
  'denied',
  'partial',
  'slow',
  'slow-answer',
  'crash-before',
  'crash-after',
  'crash-answered',
  'freeze',
)

export function faultsOf(...roles: readonly Role[]): fc.Arbitrary<Fault> {
  return fc.constantFrom(...roles).chain((role) =>
    fc.record({
      role: fc.constant(role),
      op: fc.constantFrom(...(OPERATIONS[role] ?? [])),
      nth: fc.nat({ max: 6 }),
      times: fc.constantFrom(1, 1, 1, 2, 3, 4),
      kind,
      seconds: fc.constantFrom(1, 4, 12, 25, 40, 90),
    }),
  )
}

const outage: fc.Arbitrary<Outage> = fc.record({
  target: fc.constantFrom('dynamo', 'q1.fifo', 'q2.fifo', 'q1-dead.fifo', 'outside'),
  from: fc.nat({ max: 90 }),
  seconds: fc.constantFrom(5, 30, 100, 240),
  kind: fc.constantFrom('dropped', 'throttled', 'denied'),
})

const stream: fc.Arbitrary<StreamPlan> = fc.record({
  shards: fc.integer({ min: 1, max: 3 }),
  drops: fc.constantFrom(0, 0.2, 0.6),
  doubles: fc.constantFrom(0, 0.3),
  shuffled: fc.boolean(),
})

/** Within a chapter's rest a broker forgets (6 minutes), relayed rows expire (8 days), so does the ledger (40 days). Seconds. */
const rest = fc.constantFrom(0, 360, 8 * 86_400, 40 * 86_400)

const skew = fc.constantFrom(0, 0, 0, 120, -120)
/** A writer's clock may be a day and more ahead: the sweeper must not wait that long. */
const writerSkew = fc.constantFrom(0, 0, 0, 120, -120, 30 * 3600)
const skews = fc.record({ writer: writerSkew, relay: skew, sweeper: skew, consumer: skew })

export function planOf({ steps, faults, acts, maxChapters }: Focus): fc.Arbitrary<Plan> {
  const chapter: fc.Arbitrary<Chapter> = fc.record({
    steps: fc.array(steps, { minLength: 1, maxLength: 5 }),
    outages: fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, fc.array(outage, { maxLength: 2 })),
    rest,
    keepsDead: fc.boolean(),
  })
  return fc.record({
    seed: fc.nat(),
    chapters: fc.array(chapter, { minLength: 1, maxLength: maxChapters }),
    faults: fc.array(faults, { maxLength: 6 }),
    skews,
    stream,
    refusesFor: fc.constantFrom(0, 60, 200, 1000),
    scripts: fc.array(fc.array(fc.constantFrom(...acts), { maxLength: 4 }), { minLength: 1, maxLength: 4 }),
    concurrency: fc.integer({ min: 1, max: 3 }),
    batch: fc.constantFrom(1, 3, 10, 10),
  })
}
