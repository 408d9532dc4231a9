import { describe, expect, it } from 'vitest'
import { type Cancellation, decideCancellation } from '../../src/outbox/decide-cancellation.ts'
import type { Standing } from '../../src/outbox/judge-row.ts'

const FAILED = 'ConditionalCheckFailed'

type Row = Cancellation['rows'][number]

function row(code: string, standing?: Standing, auto = false): Row {
  return standing === undefined ? { code, auto } : { code, auto, standing }
}

function cancellation(given: Partial<Cancellation>): Cancellation {
  return { writes: [], guards: [], rows: [], onExisting: 'cancel', ...given }
}

const own = row(FAILED, 'own')
const equal = row(FAILED, 'equal')
const different = row(FAILED, 'different')
const absent = row('None', 'absent')
const unseen = row('None')
const collided = row(FAILED, 'different', true)

describe('decideCancellation', () => {
  it.each<[string, Partial<Cancellation>, object]>([
    ['our own row beats a failed condition', { writes: [FAILED], rows: [own] }, { kind: 'committed' }],
    ['our own row beats a failed guard', { guards: [FAILED], rows: [own] }, { kind: 'committed' }],
    ['a guard beats a duplicate', { guards: ['None', FAILED], rows: [equal] }, { kind: 'guard-failed', index: 1 }],
    ['other content is a conflict', { rows: [equal, different], onExisting: 'commit' }, { kind: 'conflict' }],
    ['all equal are duplicates', { rows: [equal, row('None', 'equal')] }, { kind: 'duplicate' }],
    ['duplicates beat the caller’s condition', { writes: [FAILED], rows: [equal] }, { kind: 'duplicate' }],
    ['an auto event is no part of the mix', { rows: [equal, row('None', 'absent', true)] }, { kind: 'duplicate' }],
    ['duplicates and new events are a conflict', { rows: [equal, absent] }, { kind: 'conflict' }],
    [
      'the mix is looked at again while the other call commits',
      { rows: [equal, row('TransactionConflict', 'absent')] },
      { kind: 'again', code: 'TransactionConflict' },
    ],
    ['commit leaves duplicates out', { rows: [absent, equal], onExisting: 'commit' }, { kind: 'change', drop: [1] }],
    [
      'commit does not hide the caller’s failed condition',
      { writes: ['None', FAILED], rows: [equal], onExisting: 'commit' },
      { kind: 'condition-failed', index: 1 },
    ],
    ['a taken number is counted anew', { rows: [collided] }, { kind: 'change', drop: [] }],
    [
      'equal content does not make an auto event a duplicate',
      { rows: [row(FAILED, 'equal', true)] },
      { kind: 'change', drop: [] },
    ],
    [
      'the caller’s condition, once the rows are seen',
      { writes: [FAILED], rows: [absent] },
      { kind: 'condition-failed', index: 0 },
    ],
    ['the caller’s condition without events', { writes: ['None', FAILED] }, { kind: 'condition-failed', index: 1 }],
    [
      'the caller’s condition beside a taken number',
      { writes: [FAILED], rows: [collided] },
      { kind: 'condition-failed', index: 0 },
    ],
    [
      'an action that DynamoDB calls wrong',
      { writes: ['None', 'ValidationError'] },
      { kind: 'invalid', index: 1, code: 'ValidationError' },
    ],
    [
      'a conflict is sent again',
      { writes: ['TransactionConflict'], rows: [unseen] },
      { kind: 'again', code: 'TransactionConflict' },
    ],
    ['a throttle is sent again', { writes: ['ThrottlingError'] }, { kind: 'again', code: 'ThrottlingError' }],
    [
      'a row that is gone again is sent again',
      { rows: [row(FAILED, 'absent')] },
      { kind: 'again', code: 'TransactionCanceledException' },
    ],
  ])('%s', (_, given, decision) => {
    expect(decideCancellation(cancellation(given))).toEqual(decision)
  })

  it.each<[string, Partial<Cancellation>]>([
    ['a condition failed and no event is reported: one may be our own', { writes: [FAILED], rows: [unseen] }],
    [
      'a condition failed and only an auto event could tell',
      { writes: [FAILED], rows: [row('None', undefined, true)] },
    ],
    ['a guard failed and no event is reported', { guards: [FAILED], rows: [unseen], onExisting: 'commit' }],
    ['a duplicate beside an event that is not reported', { rows: [equal, unseen] }],
    ['an engine that returns no old item', { rows: [row(FAILED)] }],
  ])('looks at the rows first: %s', (_, given) => {
    expect(decideCancellation(cancellation(given))).toEqual({ kind: 'look' })
  })
})
