import { describe, expect, it } from 'vitest'
import { classifyError } from '../../src/outbox/classify-error.ts'
import { awsError, networkError, transactionCanceled } from '../support/faults.ts'

describe('classifyError', () => {
  it.each([
    ['TransactionInProgressException', 'in-progress'],
    ['IdempotentParameterMismatchException', 'mismatch'],
    ['ThrottlingException', 'busy'],
    ['ProvisionedThroughputExceededException', 'busy'],
    ['RequestLimitExceeded', 'busy'],
    ['ValidationException', 'invalid'],
    ['AccessDeniedException', 'unavailable'],
    ['ResourceNotFoundException', 'unavailable'],
    ['ExpiredTokenException', 'unavailable'],
    ['InternalServerError', 'unanswered'],
    ['ServiceUnavailable', 'unanswered'],
  ])('%s is %s', (name, kind) => {
    expect(classifyError(awsError(name), 1)).toEqual({ kind, name, sentBefore: false })
  })

  it('takes an error without an answer, or of any other kind, for unanswered', () => {
    for (const error of [networkError(), networkError('AbortError'), new TypeError('x'), 'text', null]) {
      expect(classifyError(error, 1).kind).toBe('unanswered')
    }
  })

  it('knows that missing credentials never left', () => {
    expect(classifyError(Object.assign(new Error(), { name: 'CredentialsProviderError' }), 1).kind).toBe('unavailable')
  })

  it('sees that the SDK had sent it before', () => {
    const error = awsError('ThrottlingException', { $metadata: { httpStatusCode: 400, attempts: 3 } })
    expect(classifyError(error, 1)).toMatchObject({ kind: 'busy', sentBefore: true })
  })

  it('reads the reasons with their items', () => {
    const Item = { pk: { S: 'a' } }
    const error = awsError('TransactionCanceledException', {
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item }],
    })
    expect(classifyError(error, 2).reasons).toEqual([{ code: 'None' }, { code: 'ConditionalCheckFailed', item: Item }])
  })

  it('reads the codes from the message where a framework drops the reasons', () => {
    const message =
      'Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]'
    const error = Object.assign(new Error(message), { name: 'TransactionCanceledException' })
    expect(classifyError(error, 2).reasons).toEqual([{ code: 'None' }, { code: 'TransactionConflict' }])
    expect(classifyError(error, 3).reasons).toBeUndefined()
  })

  it('finds the error of AWS in the causes of a framework’s own', () => {
    const wrapped = new Error('OneTable failed', { cause: new Error('again', { cause: transactionCanceled('None') }) })
    expect(classifyError(wrapped, 1)).toMatchObject({ kind: 'cancelled', reasons: [{ code: 'None' }] })
  })
})
