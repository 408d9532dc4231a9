import { describe, expect, it } from 'vitest'
import type { CommitOutcome } from '../../src/outbox/commit.ts'
import { outcomeError } from '../../src/outbox/outcome-error.ts'

const cause = new Error('socket hang up')
type Failure = Exclude<CommitOutcome, { status: 'committed' | 'duplicate' }>

describe('the error of a transaction', () => {
  it.each<[Failure, object]>([
    [
      { status: 'conflict' },
      {
        code: 'EVENT_CONFLICT',
        message:
          'An event of this call is stored already, or given twice, with other type or data; or some of its events are stored and others are new. Nothing was written. Give new content a key of its own.',
        details: {},
      },
    ],
    [
      { status: 'condition-failed', index: 2, item: { a: 1 }, cause },
      {
        code: 'CONDITION_FAILED',
        message: 'The condition of writes[2] does not hold. Nothing was written. Read the item anew and decide again.',
        details: { index: 2, reason: 'ConditionalCheckFailed', item: { a: 1 } },
        cause,
      },
    ],
    [
      { status: 'guard-failed', index: 0 },
      {
        code: 'CONDITION_FAILED',
        message: 'The condition of writes[0] does not hold. Nothing was written. Read the item anew and decide again.',
        details: { index: 0, reason: 'ConditionalCheckFailed' },
      },
    ],
    [
      { status: 'busy', reason: 'TransactionConflict', cause },
      {
        code: 'TRANSACTION_BUSY',
        message: 'Nothing was written: TransactionConflict outlasted the retries. Call again.',
        details: { reason: 'TransactionConflict' },
        cause,
      },
    ],
    [
      { status: 'unavailable', reason: 'AccessDeniedException', cause },
      {
        code: 'UNAVAILABLE',
        message:
          'Nothing was written: DynamoDB refused the call (AccessDeniedException). Call again once that is mended.',
        details: { reason: 'AccessDeniedException' },
        cause,
      },
    ],
    [
      { status: 'unknown', cause },
      {
        code: 'OUTCOME_UNKNOWN',
        message:
          'DynamoDB did not answer, and no row proves whether the transaction was applied. Call again with the same keyed event, or read your data back.',
        details: {},
        cause,
      },
    ],
  ])('that ended as %o tells what to do', (outcome, expected) => {
    const { code, message, details, cause: given } = outcomeError(outcome)
    expect({ code, message, details, ...(given === undefined ? {} : { cause: given }) }).toEqual(expected)
  })
})
