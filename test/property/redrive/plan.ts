import fc from 'fast-check'
import type { Troubles } from '../stage/stage.ts'
import { faultsOf, outagesOf } from '../stage/troubles.ts'

export type Letter = {
  /** Undefined: an event without order. */
  readonly group: 'g' | 'h' | undefined
  /** Which handler has given up; `sqs`: none, SQS itself has moved the message. */
  readonly from: 'one' | 'two' | 'sqs'
}

/** One operator, or two at once, who look through the dead-letter queue. `half`: every second event; `one`: of one handler. */
export type Pass = {
  readonly at: number
  readonly operators: number
  readonly select: 'all' | 'none' | 'half' | 'one'
}

/** What a handler does in a run, once its letter is back; afterwards all goes well. */
export type Act = 'ok' | 'permanent' | 'throw'

export type RedrivePlan = Troubles & {
  readonly fifo: boolean
  readonly letters: readonly Letter[]
  /** More of them, without order. */
  readonly more: number
  readonly passes: readonly Pass[]
  readonly scripts: readonly (readonly Act[])[]
}

export type Focus = {
  readonly letters: fc.Arbitrary<Letter>
  readonly more: readonly number[]
  readonly selects: readonly Pass['select'][]
  readonly acts: readonly Act[]
  /** Nothing befalls anybody but that he waits, for longer than he may hold a message. */
  readonly slow: boolean
}

const group = fc.constantFrom('g' as const, 'g' as const, 'h' as const, undefined)
const ANY = fc.record({ group, from: fc.constantFrom('one' as const, 'two' as const, 'sqs' as const) })
const OF_ONE = fc.record({
  group: fc.constantFrom('g' as const, 'g' as const, 'h' as const),
  from: fc.constant('one' as const),
})

export const FOCI = {
  any: {
    letters: ANY,
    more: [0, 0, 3],
    selects: ['all', 'all', 'none', 'half', 'one'],
    acts: ['ok', 'permanent', 'permanent', 'throw'],
    slow: false,
  },
  order: { letters: OF_ONE, more: [0], selects: ['all'], acts: ['ok'], slow: false },
  many: { letters: ANY, more: [12, 25, 35, 35], selects: ['none', 'half'], acts: ['ok'], slow: true },
} satisfies Record<string, Focus>

const SECONDS = [1, 12, 70, 130]
const OPERATIONS = [
  'SendMessageBatch',
  'SendMessageBatch',
  'SendMessageBatch',
  'DeleteMessageBatch',
  'ReceiveMessage',
  'ChangeMessageVisibilityBatch',
  'GetQueueAttributes',
  'any',
]

/** Once in a plan all that is held shows again: a queue that did so at each request might show the same ten for ever. */
const oneLapse = faultsOf({ operator: ['ReceiveMessage'] }, [121], true).map((faults) =>
  faults.slice(0, 1).map((fault) => ({ ...fault, times: 1 })),
)

export function planOf({ letters, more, selects, acts, slow }: Focus): fc.Arbitrary<RedrivePlan> {
  const pass = fc.record({
    at: fc.nat({ max: slow ? 900 : 200 }),
    operators: slow ? fc.constant(1) : fc.constantFrom(1, 1, 2),
    select: fc.constantFrom(...selects),
  })
  return fc.record({
    seed: fc.nat(),
    faults: slow ? oneLapse : faultsOf({ operator: OPERATIONS }, SECONDS),
    outages: slow ? fc.constant([]) : outagesOf('q.fifo', 'q', 'q-dead.fifo', 'q-dead'),
    // Of a standard queue nobody asks again, group by group.
    fifo: slow ? fc.constantFrom(true, false, false) : fc.constantFrom(true, true, false),
    letters: fc.array(letters, { maxLength: 9 }),
    more: fc.constantFrom(...more),
    passes: fc.array(pass, { minLength: 1, maxLength: 4 }),
    scripts: fc.array(fc.array(fc.constantFrom(...acts), { maxLength: 2 }), { minLength: 1, maxLength: 3 }),
  })
}
