import fc from 'fast-check'
import { type Focus, faultsOf, STEPS } from './arbitraries.ts'
import type { Act } from './plan.ts'

const ALL_ACTS: readonly Act[] = [
  'ok',
  'ok',
  'throw',
  'permanent',
  'busy',
  'hang',
  'die',
  'slow',
  'commit-throw',
  'commit-swallow',
  'commit-unawaited',
  'commit-late',
  'own-condition',
]

/** What is worth its time in a run of the whole. */
const { many: _many, flood: _flood, last: _last, ...COMMON } = STEPS

/** Which part of the pipeline a property looks at closely; the rest runs along. */
export const FOCI = {
  writers: {
    steps: fc.oneof(STEPS.keyed, STEPS.keyed, STEPS.job, STEPS.auto, STEPS.numbered, STEPS.doomed),
    faults: faultsOf('writer'),
    acts: ['ok'],
    maxChapters: 2,
  },
  relay: {
    steps: fc.oneof(
      STEPS.auto,
      STEPS.numbered,
      STEPS.late,
      STEPS.keyed,
      STEPS.replay,
      STEPS.redriveRows,
      STEPS.elsewhere,
      STEPS.many,
    ),
    faults: faultsOf('relay', 'sweeper', 'operator'),
    acts: ['ok'],
    maxChapters: 2,
  },
  consumers: {
    steps: fc.oneof(STEPS.burst, STEPS.auto, STEPS.keyed, STEPS.redriveMessages, STEPS.byHand, STEPS.again),
    faults: faultsOf('consumer', 'operator'),
    acts: ALL_ACTS,
    maxChapters: 2,
  },
  backlog: {
    steps: fc.oneof(STEPS.flood, STEPS.last, STEPS.last, STEPS.last),
    faults: faultsOf('relay', 'sweeper'),
    acts: ['ok'],
    maxChapters: 1,
  },
  all: {
    steps: fc.oneof(...Object.values(COMMON)),
    faults: faultsOf('writer', 'relay', 'sweeper', 'consumer', 'operator'),
    acts: ALL_ACTS,
    maxChapters: 3,
  },
} satisfies Record<string, Focus>
