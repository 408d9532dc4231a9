import fc from 'fast-check'
import { type Focus, faultsAt, faultsOf, outageOf, STEPS } from './arbitraries.ts'
import type { Act, StreamPlan } from './plan.ts'

const CRASHES: readonly Act[] = ['ok', 'throw', 'permanent', 'busy', 'hang', 'die', 'slow']
const COMMITS: readonly Act[] = [
  'ok',
  'throw',
  'commit-throw',
  'commit-swallow',
  'commit-unawaited',
  'commit-late',
  'commit-after',
  'own-condition',
]

/** What is worth its time in a run of the whole. */
const COMMON = [
  STEPS.auto,
  STEPS.burst,
  STEPS.numbered,
  STEPS.sparse,
  STEPS.late,
  STEPS.keyed,
  STEPS.doomed,
  STEPS.elsewhere,
  STEPS.replay,
  STEPS.redriveRows,
  STEPS.redriveMessages,
  STEPS.again,
  STEPS.job,
  STEPS.byHand,
]

/** One shard that loses one of these shares of its records, and brings a share twice. */
function losing(drops: readonly number[], doubles: number): fc.Arbitrary<StreamPlan> {
  return fc.record({
    shards: fc.constant(1),
    drops: fc.constantFrom(...drops),
    doubles: fc.constant(doubles),
    shuffled: fc.constant(false),
  })
}

/** Which part of the pipeline a property looks at closely; the rest runs along. */
export const FOCI = {
  writers: {
    steps: fc.oneof(STEPS.keyed, STEPS.job, STEPS.auto, STEPS.numbered, STEPS.doomed),
    faults: faultsOf('writer'),
    acts: ['ok'],
    maxChapters: 2,
  },
  order: {
    steps: fc.oneof(STEPS.auto, STEPS.burst, STEPS.numbered, STEPS.sparse, STEPS.sparse, STEPS.redriveRows),
    faults: faultsOf('relay', 'sweeper'),
    acts: ['ok'],
    maxChapters: 1,
    trouble: fc.array(outageOf('q1.fifo', 'q2.fifo'), { minLength: 1, maxLength: 2 }),
  },
  stream: {
    steps: fc.oneof(STEPS.auto, STEPS.keyed, STEPS.late, STEPS.replay, STEPS.replay, STEPS.elsewhere, STEPS.many),
    faults: faultsOf('relay', 'sweeper'),
    acts: ['ok'],
    maxChapters: 2,
    rests: fc.constantFrom(0, 360),
    trouble: fc.array(outageOf('q1.fifo', 'q2.fifo'), { minLength: 1, maxLength: 2 }),
  },
  rounds: {
    steps: fc.oneof(STEPS.refused, STEPS.refused, STEPS.keyed, STEPS.redriveRows, STEPS.replay),
    faults: faultsOf('relay', 'sweeper'),
    acts: ['ok'],
    maxChapters: 1,
  },
  returns: {
    steps: fc.oneof(STEPS.refused, STEPS.redriveSoon, STEPS.replayLate),
    faults: faultsOf('relay'),
    acts: ['ok'],
    maxChapters: 1,
    trouble: fc.constant([]),
    skews: fc.constant({}),
    stream: losing([0.4, 0.6], 0.3),
    refuses: fc.constant(60),
  },
  clocks: {
    steps: STEPS.sparse,
    faults: faultsOf('sweeper'),
    acts: ['ok'],
    maxChapters: 1,
    skews: fc.record({ writer: fc.constantFrom(120, -120), sweeper: fc.constantFrom(0, 0, 120, -120) }),
    stream: losing([0.6, 0.9], 0),
  },
  graves: {
    steps: fc.oneof(STEPS.grave, STEPS.grave, STEPS.redriveRows),
    faults: faultsAt(
      { role: 'relay', op: 'BatchExecuteStatement' },
      { role: 'relay', op: 'UpdateItem' },
      { role: 'sweeper', op: 'BatchExecuteStatement' },
      { role: 'sweeper', op: 'UpdateItem' },
    ),
    acts: ['ok'],
    maxChapters: 1,
    trouble: fc.array(outageOf('q1.fifo'), { minLength: 1, maxLength: 1 }),
  },
  wide: {
    steps: fc.oneof(STEPS.mixed, STEPS.mixed, STEPS.last),
    faults: faultsOf('relay', 'sweeper'),
    acts: ['ok'],
    maxChapters: 1,
    trouble: fc.array(outageOf('q2.fifo'), { minLength: 1, maxLength: 1 }),
  },
  backlog: {
    steps: fc.oneof(STEPS.flood, STEPS.last),
    faults: faultsOf('relay', 'sweeper'),
    acts: ['ok'],
    maxChapters: 1,
  },
  pace: {
    steps: STEPS.steady,
    faults: faultsOf('relay'),
    acts: ['ok'],
    maxChapters: 1,
  },
  commits: {
    steps: fc.oneof(STEPS.keyed, STEPS.auto),
    faults: faultsAt(
      { role: 'consumer', op: 'TransactWriteItems' },
      { role: 'consumer', op: 'TransactWriteItems' },
      { role: 'consumer', op: 'BatchExecuteStatement' },
    ),
    acts: COMMITS,
    maxChapters: 1,
  },
  crashes: {
    steps: fc.oneof(STEPS.burst, STEPS.auto, STEPS.keyed),
    faults: faultsOf('consumer'),
    acts: CRASHES,
    maxChapters: 1,
  },
  rereads: {
    steps: fc.oneof(STEPS.some, STEPS.some, STEPS.auto),
    faults: faultsAt(
      { role: 'consumer', op: 'BatchGetItem' },
      { role: 'consumer', op: 'BatchGetItem' },
      { role: 'consumer', op: 'BatchExecuteStatement' },
    ),
    acts: ['ok', 'throw', 'busy', 'busy', 'slow'],
    maxChapters: 1,
  },
  hidden: {
    steps: fc.oneof(STEPS.keyed, STEPS.burst, STEPS.auto),
    faults: faultsAt({ role: 'consumer', op: 'ChangeMessageVisibilityBatch' }),
    acts: ['ok', 'throw', 'busy', 'slow'],
    maxChapters: 1,
    visibility: fc.constant(20),
  },
  letters: {
    steps: fc.oneof(STEPS.burst, STEPS.auto, STEPS.redriveMessages, STEPS.redriveMessages, STEPS.byHand),
    faults: faultsOf('operator', 'consumer'),
    acts: ['ok', 'permanent', 'permanent', 'throw'],
    maxChapters: 1,
    trouble: fc.array(outageOf('q1.fifo', 'q1-dead.fifo'), { minLength: 1, maxLength: 1 }),
  },
  expiry: {
    steps: fc.oneof(STEPS.auto, STEPS.auto, STEPS.again, STEPS.keyed, STEPS.job),
    faults: faultsOf('writer', 'consumer'),
    acts: ['ok', 'ok', 'throw', 'permanent'],
    maxChapters: 3,
    rests: fc.constantFrom(8 * 86_400, 40 * 86_400),
  },
  all: {
    steps: fc.oneof(...COMMON),
    faults: faultsOf('writer', 'relay', 'sweeper', 'consumer', 'operator'),
    acts: [...CRASHES, ...COMMITS],
    maxChapters: 3,
  },
} satisfies Record<string, Focus>
