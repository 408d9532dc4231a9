import fc from 'fast-check'
import type { Fault, FaultKind, Outage, Role } from './faults.ts'
import type { Act, Chapter, EventType, Plan, Step, StreamPlan, Trait } from './plan.ts'

/** Which part of the pipeline a property looks at: the steps and the troubles that come most often. */
export type Focus = {
  readonly steps: fc.Arbitrary<Step>
  readonly faults: fc.Arbitrary<Fault>
  readonly acts: readonly Act[]
  readonly maxChapters: number
  /** Between chapters. Default: any. */
  readonly rests?: fc.Arbitrary<number>
  /** What is down, every other time. Default: anything. */
  readonly trouble?: fc.Arbitrary<readonly Outage[]>
  readonly skews?: fc.Arbitrary<Plan['skews']>
  readonly stream?: fc.Arbitrary<StreamPlan>
  /** How long the second queue refuses what it does not like, seconds. Default: any. */
  readonly refuses?: fc.Arbitrary<number>
  /** Of the queues, seconds. Default: mostly long. */
  readonly visibility?: fc.Arbitrary<number>
}

const type = fc.constantFrom<EventType>('one', 'both', 'two')
const group = fc.constantFrom('g', 'h')
const trait = fc.option(fc.constantFrom<Trait>('follow', 'refused'), { nil: undefined, freq: 2 })
/** Seconds; often the same, since what happens at once is what goes wrong. */
const at = fc.oneof(fc.constantFrom(0, 30), fc.nat({ max: 60 }))

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
  sparse: fc.record({ do: fc.constant('sparse' as const), at, group, type }),
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
  redriveSoon: fc.record({ do: fc.constant('redrive-rows' as const), at: fc.integer({ min: 20, max: 60 }) }),
  replayLate: fc.record({ do: fc.constant('replay-stream' as const), at: fc.integer({ min: 60, max: 100 }) }),
  redriveMessages: fc.record({ do: fc.constant('redrive-messages' as const), at: fc.nat({ max: 150 }) }),
  again: fc.record({ do: fc.constant('send-again' as const), at }),
  job: fc.record({ do: fc.constant('job' as const), at, key: fc.constantFrom('j1', 'j2') }),
  many: fc.record({
    do: fc.constant('many' as const),
    at,
    key: fc.constantFrom('x', 'y'),
    count: fc.constant(50),
  }),
  some: fc.record({
    do: fc.constant('many' as const),
    at: fc.nat({ max: 16 }),
    key: fc.constantFrom('x', 'y', 'z'),
    count: fc.integer({ min: 4, max: 12 }),
  }),
  steady: fc.record({
    do: fc.constant('auto' as const),
    at: fc.nat({ max: 3 }),
    group: fc.constant('deep'),
    count: fc.constant(40),
    type: fc.constant<EventType>('one'),
  }),
  flood: fc.record({
    do: fc.constant('flood' as const),
    at: fc.constant(0),
    group: fc.constant('deep'),
    sparse: fc.boolean(),
  }),
  mixed: fc.record({ do: fc.constant('mixed' as const), at: fc.nat({ max: 10 }), group: fc.constantFrom('deep', 'g') }),
  last: fc.record({
    do: fc.constant('auto' as const),
    at: fc.integer({ min: 10, max: 60 }),
    group: fc.constant('deep'),
    count: fc.constant(1),
    type: fc.constant<EventType>('one'),
  }),
  refused: fc.record({
    do: fc.constant('keyed' as const),
    at: fc.oneof(fc.constant(0), fc.nat({ max: 20 })),
    key: fc.constantFrom('k', 'l', 'm'),
    content: fc.constant(1),
    type: fc.constantFrom<EventType>('two', 'both'),
    onExisting: fc.constant('cancel' as const),
    trait: fc.constant<Trait>('refused'),
  }),
  grave: fc.record({
    do: fc.constant('auto' as const),
    at,
    group: fc.constant('g'),
    count: fc.integer({ min: 2, max: 3 }),
    type: fc.constantFrom<EventType>('two', 'both'),
    trait: fc.constant<Trait>('refused'),
  }),
  byHand: fc.record({ do: fc.constant('redrive-by-hand' as const), at: fc.nat({ max: 150 }) }),
}

/** A request that can fail: whose, and which command; `any` counts all of its role's. */
export type Place = { readonly role: Role; readonly op: string }

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
    'BatchGetItem',
    'Effect',
    'any',
  ],
  operator: ['SendMessageBatch', 'DeleteMessageBatch', 'ReceiveMessage', 'UpdateItem', 'Query'],
}

/** Kinds that are alike count as one: what fails is as likely as what crashes. */
const KINDS: readonly (readonly FaultKind[])[] = [
  ['dropped', 'throttled', 'denied'],
  ['lost', 'retried', 'cut-off'],
  ['slow', 'slow-answer'],
  ['crash-before', 'crash-after', 'crash-answered'],
  ['freeze'],
]

function kindOf(op: string): fc.Arbitrary<FaultKind> {
  const kinds = op.includes('Batch') ? [...KINDS, ['partial' as const]] : KINDS
  return fc.oneof(...kinds.map((alike) => fc.constantFrom(...alike)))
}

export function faultsOf(...roles: readonly Role[]): fc.Arbitrary<Fault> {
  return faultsAt(...roles.flatMap((role) => OPERATIONS[role].map((op) => ({ role, op }))))
}

/** Mostly one of a role's first requests, and often the tries that follow it: what is tried three times fails three times. */
export function faultsAt(...places: readonly Place[]): fc.Arbitrary<Fault> {
  return fc.constantFrom(...places).chain(({ role, op }) =>
    fc.record({
      role: fc.constant(role),
      op: fc.constant(op),
      nth: fc.oneof(fc.constantFrom(0, 1), fc.nat({ max: 8 })),
      times: fc.constantFrom(1, 1, 2, 3, 3, 4),
      kind: kindOf(op),
      seconds: fc.constantFrom(1, 4, 12, 25, 40, 90),
    }),
  )
}

export function outageOf(...targets: readonly string[]): fc.Arbitrary<Outage> {
  return fc.record({
    target: fc.constantFrom(...targets),
    from: fc.oneof(fc.constant(0), fc.nat({ max: 90 })),
    seconds: fc.constantFrom(5, 30, 100, 240),
    kind: fc.constantFrom('dropped', 'throttled', 'denied'),
  })
}

const outages = fc.array(outageOf('dynamo', 'q1.fifo', 'q2.fifo', 'q1-dead.fifo', 'outside'), { maxLength: 2 })

const lossy: fc.Arbitrary<StreamPlan> = fc.record({
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
const clocks = fc.record({ writer: writerSkew, relay: skew, sweeper: skew, consumer: skew })

const refusing = fc.constantFrom(0, 60, 200, 1000)
const hidden = fc.constantFrom(900, 900, 20)

export function planOf(focus: Focus): fc.Arbitrary<Plan> {
  const {
    steps,
    faults,
    acts,
    maxChapters,
    rests = rest,
    trouble = outages,
    refuses = refusing,
    visibility = hidden,
    skews = clocks,
    stream = lossy,
  } = focus
  const chapter: fc.Arbitrary<Chapter> = fc.record({
    steps: fc.array(steps, { minLength: 1, maxLength: 5 }),
    outages: fc.oneof(fc.constant([]), trouble),
    rest: rests,
    keepsDead: fc.boolean(),
  })
  return fc.record({
    seed: fc.nat(),
    chapters: fc.array(chapter, { minLength: 1, maxLength: maxChapters }),
    faults: fc.array(faults, { maxLength: 6 }),
    skews,
    stream,
    refusesFor: refuses,
    visibility,
    scripts: fc.array(fc.array(fc.constantFrom(...acts), { maxLength: 4 }), { minLength: 1, maxLength: 4 }),
    concurrency: fc.integer({ min: 1, max: 3 }),
    batch: fc.constantFrom(1, 3, 10, 10),
  })
}
