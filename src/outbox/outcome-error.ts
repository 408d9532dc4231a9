import { OutboxError } from '../errors.ts'
import type { CommitOutcome } from './commit.ts'

type Failure = Exclude<CommitOutcome, { status: 'committed' | 'duplicate' }>

/** The error that `transact` and `collect` throw for an outcome that is not a success. */
export function outcomeError(outcome: Failure): OutboxError {
  switch (outcome.status) {
    case 'conflict': {
      const message =
        'An event of this call is stored already, or given twice, with other type or data; or some of its events are stored and others are new. Nothing was written. Give new content a key of its own.'
      return new OutboxError('EVENT_CONFLICT', message)
    }
    case 'guard-failed':
    case 'condition-failed': {
      const { index } = outcome
      const item = 'item' in outcome ? { item: outcome.item } : {}
      const message = `The condition of writes[${index}] does not hold. Nothing was written. Read the item anew and decide again.`
      return new OutboxError('CONDITION_FAILED', message, {
        details: { index, reason: 'ConditionalCheckFailed', ...item },
        ...('cause' in outcome ? { cause: outcome.cause } : {}),
      })
    }
    case 'busy':
      return failed(
        'TRANSACTION_BUSY',
        `Nothing was written: ${outcome.reason} outlasted the retries. Call again.`,
        outcome,
      )
    case 'unavailable':
      return failed(
        'UNAVAILABLE',
        `Nothing was written: DynamoDB refused the call (${outcome.reason}). Call again once that is mended.`,
        outcome,
      )
    case 'unknown': {
      const message =
        'DynamoDB did not answer, and no row proves whether the transaction was applied. Call again with the same keyed event, or read your data back.'
      return new OutboxError('OUTCOME_UNKNOWN', message, { cause: outcome.cause })
    }
  }
}

function failed(
  code: 'TRANSACTION_BUSY' | 'UNAVAILABLE',
  message: string,
  { reason, cause }: { reason: string; cause: unknown },
) {
  return new OutboxError(code, message, { details: { reason }, cause })
}
