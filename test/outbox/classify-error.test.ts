import { describe, expect, it } from 'vitest'
import { classifyError } from '../../src/outbox/classify-error.ts'
import { awsError, networkError, transactionCanceled } from '../support/faults.ts'

describe('classifyError', () => {
  it.each([
    ['TransactionInProgressException', 'in-progress'],
    ['IdempotentParameterMismatchException', 'mismatch'],
    ['IdempotentParameterMismatch', 'mismatch'],
    ['TransactionConflictException', 'busy'],
    ['ThrottlingException', 'busy'],
    ['ThrottledException', 'busy'],
    ['TooManyRequestsException', 'busy'],
    ['SerializationException', 'invalid'],
    ['RequestTimeout', 'unanswered'],
    ['RequestTimeoutException', 'unanswered'],
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

  it.each([
    [399, 'unanswered'],
    [400, 'unavailable'],
    [499, 'unavailable'],
    [500, 'unanswered'],
    ['400', 'unanswered'],
  ])('takes a name that nobody knows by its status: %s is %s', (httpStatusCode, kind) => {
    const error = { name: 'SomethingNew', $metadata: { httpStatusCode } }
    expect(classifyError(error, 1)).toEqual({ kind, name: 'SomethingNew', sentBefore: false })
    expect(classifyError({ ...error, $retryable: { throttling: true } }, 1).kind).toBe('busy')
    expect(classifyError({ ...error, $retryable: { throttling: false } }, 1).kind).toBe(kind)
  })

  it('knows that missing credentials never left', () => {
    expect(classifyError(Object.assign(new Error(), { name: 'CredentialsProviderError' }), 1).kind).toBe('unavailable')
  })

  it('sees that the SDK had sent it before', () => {
    const error = awsError('ThrottlingException', { $metadata: { httpStatusCode: 400, attempts: 3 } })
    expect(classifyError(error, 1)).toMatchObject({ kind: 'busy', sentBefore: true })
    for (const attempts of [1, '3', undefined]) {
      const once = awsError('ThrottlingException', { $metadata: { httpStatusCode: 400, attempts } })
      expect(classifyError(once, 1).sentBefore).toBe(false)
    }
  })

  it('reads the reasons with their items', () => {
    const Item = { pk: { S: 'a' } }
    const error = awsError('TransactionCanceledException', {
      CancellationReasons: [{ Code: 'None' }, { Code: 'ConditionalCheckFailed', Item }],
    })
    expect(classifyError(error, 2).reasons).toEqual([{ code: 'None' }, { code: 'ConditionalCheckFailed', item: Item }])
    expect(classifyError(error, 3)).not.toHaveProperty('reasons')
  })

  it('takes a reason that says nothing for none', () => {
    const given = [null, { Code: 7, Item: 'x' }, { Code: 'TransactionConflict', Item: null }]
    const { reasons } = classifyError(awsError('TransactionCanceledException', { CancellationReasons: given }), 3)
    expect(reasons).toStrictEqual([{ code: 'None' }, { code: 'None' }, { code: 'TransactionConflict' }])
  })

  it('reads the codes from the message where a framework drops the reasons', () => {
    const message =
      'Transaction cancelled, please refer cancellation reasons for specific reasons [None, TransactionConflict]'
    const error = Object.assign(new Error(message), { name: 'TransactionCanceledException' })
    expect(classifyError(error, 2).reasons).toEqual([{ code: 'None' }, { code: 'TransactionConflict' }])
    expect(classifyError(error, 3).reasons).toBeUndefined()
    expect(classifyError({ name: 'TransactionCanceledException', message: 7 }, 1).reasons).toBeUndefined()
    expect(classifyError({ name: 'TransactionCanceledException', message: 'no codes' }, 1).reasons).toBeUndefined()
  })

  it('finds the error of AWS in the causes of a framework’s own', () => {
    const wrapped = new Error('OneTable failed', { cause: new Error('again', { cause: transactionCanceled('None') }) })
    expect(classifyError(wrapped, 1)).toMatchObject({ kind: 'cancelled', reasons: [{ code: 'None' }] })
    const answered = new Error('failed', {
      cause: { name: 'AccessDeniedException', $metadata: { httpStatusCode: 400 } },
    })
    expect(classifyError(answered, 1)).toMatchObject({ kind: 'unavailable', name: 'AccessDeniedException' })
  })

  it('looks five causes deep, and takes the outermost error where none says anything', () => {
    const wrap = (depth: number, inner: unknown): unknown =>
      depth === 0 ? inner : Object.assign(new Error('', { cause: wrap(depth - 1, inner) }), { name: `Layer${depth}` })
    expect(classifyError(wrap(4, transactionCanceled('None')), 1).kind).toBe('cancelled')
    expect(classifyError(wrap(5, transactionCanceled('None')), 1)).toMatchObject({ kind: 'unanswered', name: 'Layer5' })
    expect(classifyError(wrap(2, 'text'), 1)).toMatchObject({ kind: 'unanswered', name: 'Layer2' })
    const endless: { cause?: unknown } = {}
    endless.cause = endless
    expect(classifyError(endless, 1).kind).toBe('unanswered')
  })
})
