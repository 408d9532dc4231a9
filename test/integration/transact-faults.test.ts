import { TransactWriteItemsCommand, type TransactWriteItemsInput } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_BUSY_TRIES, MAX_UNANSWERED_TRIES } from '../../src/outbox/pace.ts'
import { proves } from '../cases.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { awsError, networkError, transactionCanceled } from '../support/faults.ts'
import { openShop, type Shop } from '../support/shop.ts'

const WRITE = 'TransactWriteItemsCommand'
const placed = { source: 'shop', type: 'order.placed' }

let dynamo: TestDynamo
beforeAll(async () => {
  dynamo = await startDynamo()
})
afterAll(() => dynamo.stop())

let shop: Shop
let event: { source: string; type: string; key: string; data: unknown }
const auto = { ...placed, group: 'g', sequence: 'auto' as const, data: 1 }
beforeEach(async () => {
  shop = await openShop(dynamo, { kind: 'client' })
  event = { ...placed, key: 'k', data: { a: 1 } }
})

function tokens(): (string | undefined)[] {
  return shop.faults.inputs(WRITE).map((input) => (input as TransactWriteItemsInput).ClientRequestToken)
}

function times<Fault>(count: number, fault: Fault): Fault[] {
  return Array.from({ length: count }, () => fault)
}

/** Sends as if DynamoDB had forgotten the token, which it does after ten minutes, and loses the first answers. */
function forgetfulSend(lost: number) {
  let tries = 0
  return async (input: unknown) => {
    const ClientRequestToken = shop.clock.id()
    await dynamo.client.send(
      new TransactWriteItemsCommand({ ...(input as TransactWriteItemsInput), ClientRequestToken }),
    )
    if (++tries <= lost) throw networkError()
  }
}

describe('an answer that is lost', () => {
  it('is asked for again with the same token', proves('stored-by-retry'), async () => {
    shop.faults.next(WRITE, { after: networkError() })
    const result = await shop.outbox.transact({ writes: [shop.newOrder('a')], events: [event] })
    expect(result).toMatchObject({ duplicate: false, events: [{ inserted: true }] })
    expect(tokens()).toHaveLength(2)
    expect(new Set(tokens()).size).toBe(1)
  })

  it.each([['keyed'], ['auto']])(
    'is told by our own row once the token is forgotten: %s',
    proves('stored-by-retry', 'token-expired'),
    async (form) => {
      const events = [form === 'keyed' ? event : auto]
      const result = await shop.outbox.transact({ writes: [shop.newOrder('a')], events, send: forgetfulSend(1) })
      expect(result).toMatchObject({ duplicate: false, events: [{ inserted: true }] })
      expect(await shop.rows()).toHaveLength(1)
    },
  )

  it('means stored for a batch whose rows are all our own', proves('token-expired'), async () => {
    const events = Array.from({ length: 20 }, (_, n) => ({ ...event, key: `k-${n}` }))
    const result = await shop.outbox.transact({ events: [...events, auto], send: forgetfulSend(1) })
    expect(result.events.every(({ inserted }) => inserted)).toBe(true)
    expect(await shop.rows()).toHaveLength(21)
  })

  it('is an error where a row is another call’s', proves('token-expired'), async () => {
    await shop.other.transact({ events: [{ ...event, key: 'k-1', data: 'other' }] })
    const events = [event, { ...event, key: 'k-1' }]
    await expect(shop.outbox.transact({ events, send: forgetfulSend(0) })).rejects.toMatchObject({
      code: 'EVENT_CONFLICT',
    })
    expect(await shop.rows()).toHaveLength(1)
  })

  it('is told by the row that is read back, when no try is answered', proves('commit-reported-as-error'), async () => {
    shop.faults.next(WRITE, { after: networkError() }, ...times(MAX_UNANSWERED_TRIES, { before: networkError() }))
    const result = await shop.outbox.transact({ writes: [shop.newOrder('a')], events: [event, auto] })
    expect(result).toMatchObject({
      duplicate: false,
      events: [{ inserted: true }, { inserted: true, sequence: expect.any(Number) }],
    })
    expect(shop.faults.inputs(WRITE)).toHaveLength(MAX_UNANSWERED_TRIES)
  })

  it(
    'is an unknown outcome, never a failure, where no row proves anything',
    proves('commit-reported-as-error'),
    async () => {
      const unknown = { code: 'OUTCOME_UNKNOWN', retryable: true }
      shop.faults.next(WRITE, ...times(MAX_UNANSWERED_TRIES, { before: networkError() }))
      await expect(shop.outbox.transact({ events: [event] })).rejects.toMatchObject(unknown)
      shop.faults.next(WRITE, ...times(MAX_UNANSWERED_TRIES, { before: awsError('InternalServerError') }))
      await expect(shop.outbox.transact({ writes: [shop.newOrder('a')] })).rejects.toMatchObject(unknown)
      expect(new Set(tokens()).size).toBe(2)
    },
  )

  it('stays unknown when the rows cannot be read', async () => {
    shop.faults.next(WRITE, ...times(MAX_UNANSWERED_TRIES, { before: networkError() }))
    shop.faults.next('GetItemCommand', { before: awsError('AccessDeniedException') })
    await expect(shop.outbox.transact({ events: [event] })).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  })

  it('is a duplicate when another call has stored the event meanwhile', async () => {
    shop.faults.next(WRITE, { meanwhile: () => shop.other.transact({ events: [event] }) })
    const lost = times(MAX_UNANSWERED_TRIES, { before: networkError() })
    shop.faults.next(WRITE, ...lost)
    expect(await shop.outbox.transact({ writes: [shop.newOrder('a')], events: [event] })).toMatchObject({
      duplicate: true,
    })
    shop.faults.reset()
    shop.faults.next(WRITE, ...lost)
    expect(await shop.outbox.transact({ events: [event] })).toMatchObject({ duplicate: true })
  })

  it('does not become a failure when a later try is refused', proves('commit-reported-as-error'), async () => {
    shop.faults.next(WRITE, { after: networkError() }, { before: awsError('ExpiredTokenException') })
    expect(await shop.outbox.transact({ events: [event] })).toMatchObject({ duplicate: false })
    shop.faults.next(WRITE, { before: networkError() }, { before: awsError('ExpiredTokenException') })
    const other = { ...event, key: 'other' }
    await expect(shop.outbox.transact({ events: [other] })).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  })

  it('is a failure after all once another call’s row shows that it was never applied', async () => {
    shop.faults.next(WRITE, { before: networkError() }, { meanwhile: () => shop.other.transact({ events: [auto] }) })
    shop.faults.next(WRITE, { before: awsError('AccessDeniedException') })
    await expect(shop.outbox.transact({ events: [auto] })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })

  it('stays unknown when a condition fails then and the rows cannot be read', async () => {
    shop.faults.next(
      WRITE,
      { after: networkError() },
      { before: transactionCanceled('ConditionalCheckFailed', 'None') },
    )
    shop.faults.next('GetItemCommand', { before: awsError('AccessDeniedException') })
    const call = shop.outbox.transact({ writes: [shop.newOrder('a')], events: [event] })
    await expect(call).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  })

  it('stays unknown when the token turns out to be another transaction’s', async () => {
    shop.faults.next(WRITE, { before: networkError() }, { before: awsError('IdempotentParameterMismatchException') })
    await expect(shop.outbox.transact({ events: [event] })).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
  })

  it('is looked for with consistent reads', async () => {
    shop.faults.next(WRITE, ...times(MAX_UNANSWERED_TRIES, { before: networkError() }))
    await expect(shop.outbox.transact({ events: [auto] })).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' })
    expect(shop.faults.inputs('GetItemCommand')).toEqual([expect.objectContaining({ ConsistentRead: true })])
    expect(shop.faults.inputs('QueryCommand')).toEqual([expect.objectContaining({ ConsistentRead: true, Limit: 1 })])
  })

  it('counts tries inside the SDK too', async () => {
    const Throttled = awsError('ThrottlingException', { $metadata: { httpStatusCode: 400, attempts: 3 } })
    shop.faults.next(WRITE, { after: Throttled }, ...times(MAX_BUSY_TRIES, { before: awsError('ThrottlingException') }))
    expect(await shop.outbox.transact({ events: [event] })).toMatchObject({
      duplicate: false,
      events: [{ inserted: true }],
    })
  })
})

describe('a transaction still in progress', () => {
  it(
    'is asked for again with the same token, over more than five seconds',
    proves('transaction-in-progress'),
    async () => {
      const inProgress = times(MAX_UNANSWERED_TRIES - 1, { before: awsError('TransactionInProgressException') })
      shop.faults.next(WRITE, ...inProgress)
      expect(await shop.outbox.transact({ events: [event] })).toMatchObject({ events: [{ inserted: true }] })
      expect(new Set(tokens()).size).toBe(1)
      expect(shop.clock.sleeps.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThan(5000)
    },
  )
})

describe('a conflict or a throttle', () => {
  it.each(['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded'])(
    '%s is retried with jitter under the same token',
    proves('cancelled-retried'),
    async (code) => {
      shop.faults.next(WRITE, ...times(3, { before: transactionCanceled('None', code) }))
      await shop.outbox.transact({ writes: [shop.newOrder('a')], events: [event] })
      expect(tokens()).toHaveLength(4)
      expect(new Set(tokens()).size).toBe(1)
      expect(shop.clock.sleeps).toEqual([5, 10, 20])
    },
  )

  it('is retried a bounded number of times', proves('cancelled-retried'), async () => {
    shop.faults.next(WRITE, ...times(100, { before: transactionCanceled('TransactionConflict') }))
    const call = shop.outbox.transact({ events: [event] })
    await expect(call).rejects.toMatchObject({ code: 'TRANSACTION_BUSY', details: { reason: 'TransactionConflict' } })
    expect(tokens()).toHaveLength(MAX_BUSY_TRIES)
  })

  it('is retried until the deadline where there is one', async () => {
    shop.faults.next(WRITE, ...times(500, { before: awsError('ThrottlingException') }))
    const deadline = shop.clock.now() + 60_000
    const outcome = await shop.outbox.commit({ writes: [], events: [event], onExisting: 'cancel', deadline })
    expect(outcome).toMatchObject({ status: 'busy', reason: 'ThrottlingException' })
    expect(shop.clock.now()).toBeLessThan(deadline)
    expect(tokens().length).toBeGreaterThan(100)
  })

  it('is told by its message when the reasons are missing', proves('cancelled-retried'), async () => {
    const error = Object.assign(new Error('Transaction cancelled … [TransactionConflict]'), {
      name: 'TransactionCanceledException',
    })
    shop.faults.next(WRITE, { before: error })
    expect(await shop.outbox.transact({ events: [event] })).toMatchObject({ duplicate: false })
  })

  it('looks at the rows when the reasons cannot be read at all', proves('cancelled-retried'), async () => {
    const unreadable = Object.assign(new Error('cancelled'), { name: 'TransactionCanceledException' })
    await shop.other.transact({ events: [event] })
    shop.faults.next(WRITE, { before: unreadable })
    expect(await shop.outbox.transact({ events: [event] })).toMatchObject({ duplicate: true })
  })
})

describe('the caller’s condition', () => {
  it('loses against a stored event that the engine did not report', proves('job-runs-again'), async () => {
    const job = { writes: [shop.newOrder('a')], events: [event] }
    await shop.outbox.transact(job)
    shop.faults.next(WRITE, { before: transactionCanceled('ConditionalCheckFailed', 'None') })
    expect(await shop.outbox.transact(job)).toMatchObject({ duplicate: true })
  })

  it('loses against our own row: the first try had been applied', proves('stored-by-retry'), async () => {
    shop.faults.next(
      WRITE,
      { after: networkError() },
      { before: transactionCanceled('ConditionalCheckFailed', 'None', 'None') },
    )
    const result = await shop.outbox.transact({ writes: [shop.newOrder('a')], events: [event, auto] })
    expect(result).toMatchObject({ duplicate: false, events: [{ inserted: true }, { inserted: true }] })
  })

  it('stands when no event is stored', async () => {
    await shop.outbox.transact({ writes: [shop.newOrder('a')] })
    const call = shop.outbox.transact({ writes: [shop.newOrder('a')], events: [event] })
    await expect(call).rejects.toMatchObject({
      code: 'CONDITION_FAILED',
      details: { index: 0, item: { id: { S: 'a' } } },
    })
    expect(shop.faults.calls.filter((name) => name === 'GetItemCommand')).toHaveLength(1)
  })

  it('is unavailable, not failed, when the event cannot be read back', async () => {
    await shop.outbox.transact({ writes: [shop.newOrder('a')] })
    shop.faults.next('GetItemCommand', { before: awsError('AccessDeniedException') })
    const call = shop.outbox.transact({ writes: [shop.newOrder('a')], events: [event] })
    await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })
})

describe('numbers', () => {
  it('are taken anew under a new token when another writer was faster', proves('interleaved-in-group'), async () => {
    shop.faults.next(WRITE, { meanwhile: () => shop.other.transact({ events: [auto, auto] }) })
    const { events } = await shop.outbox.transact({ writes: [shop.newOrder('a')], events: [event, auto] })
    const rows = await shop.rows()
    const first = Math.min(...rows.filter(({ sk }) => sk !== '-').map(({ sk }) => Number(sk)))
    expect(events[1]?.sequence).toBe(first + 2)
    expect(new Set(tokens()).size).toBe(2)
    const mine = rows.find(({ sk }) => Number(sk) === first + 2)
    expect(JSON.parse(String(mine?.['body']))).toMatchObject({ subject: `g ${first + 2}`, id: events[1]?.id })
    const keyed = rows.find(({ sk }) => sk === '-')
    expect([mine?.['created'], mine?.['instance']]).toEqual([keyed?.['created'], keyed?.['instance']])
  })

  it('are given up after a bounded number of collisions', async () => {
    shop.faults.next(WRITE, ...times(MAX_BUSY_TRIES, { meanwhile: () => shop.other.transact({ events: [auto] }) }))
    await expect(shop.outbox.transact({ events: [auto] })).rejects.toMatchObject({ code: 'TRANSACTION_BUSY' })
  })

  it('that cannot be read leave nothing written', async () => {
    shop.faults.next('QueryCommand', { before: awsError('AccessDeniedException') })
    await expect(shop.outbox.transact({ events: [auto] })).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(tokens()).toEqual([])
  })

  it('follow duplicates that are left out', async () => {
    await shop.other.transact({ events: [event] })
    shop.faults.next(WRITE, { meanwhile: () => shop.other.transact({ events: [auto] }) })
    const result = await shop.outbox.transact({
      writes: [shop.newOrder('a')],
      events: [event, auto],
      onExisting: 'commit',
    })
    expect(result.events.map(({ inserted }) => inserted)).toEqual([false, true])
    expect(await shop.order('a')).toBeDefined()
  })
})

describe('what DynamoDB refuses', () => {
  it.each(['AccessDeniedException', 'ResourceNotFoundException', 'CredentialsProviderError'])(
    '%s may pass',
    async (name) => {
      shop.faults.next(WRITE, { before: awsError(name) })
      const call = shop.outbox.transact({ events: [event] })
      await expect(call).rejects.toMatchObject({ code: 'UNAVAILABLE', details: { reason: name } })
    },
  )

  it('tells which action is wrong', async () => {
    shop.faults.next(WRITE, { before: transactionCanceled('None', 'ValidationError') })
    const call = shop.outbox.transact({ writes: [shop.newOrder('a'), shop.newOrder('b')] })
    await expect(call).rejects.toMatchObject({
      code: 'INVALID_TRANSACTION',
      details: { index: 1, reason: 'ValidationError' },
    })
  })

  it('refuses a broken expression for good', async () => {
    const Put = { TableName: shop.ordersTable, Item: { id: { S: 'a' } }, ConditionExpression: 'nonsense(' }
    await expect(shop.outbox.transact({ writes: [{ Put }] })).rejects.toMatchObject({ code: 'INVALID_TRANSACTION' })
  })
})

describe('a token of the caller', () => {
  it('used again for the same keyed event is a duplicate, whatever else was asked', async () => {
    const call = { writes: [shop.increment('a')], events: [event], token: 'job-1' }
    await shop.outbox.transact(call)
    shop.clock.advance(1000)
    expect(await shop.outbox.transact({ ...call, onExisting: 'commit' })).toMatchObject({ duplicate: true })
    expect(await shop.order('a')).toMatchObject({ count: 1 })
  })

  it('used for another transaction is a mistake', async () => {
    await shop.outbox.transact({ writes: [shop.increment('a')], token: 'job-2' })
    const call = shop.outbox.transact({ writes: [shop.increment('b')], token: 'job-2' })
    await expect(call).rejects.toMatchObject({ code: 'INVALID_USE' })
    expect(await shop.order('b')).toBeUndefined()
  })
})

describe('guards', () => {
  const guard = (id: string) => ({
    Update: {
      TableName: shop.ordersTable,
      Key: { id },
      UpdateExpression: 'SET #s = :done',
      ConditionExpression: '#s = :running',
      ExpressionAttributeNames: { '#s': 'status' },
      ExpressionAttributeValues: { ':running': 'running', ':done': 'done' },
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const,
    },
  })

  it.each(['client', 'documentClient'] as const)(
    'commit with the writes, without an outbox, through %s',
    async (kind) => {
      shop = await openShop(dynamo, { kind })
      await shop.outbox.transact({ writes: [shop.newOrder('claim', { status: 'running', attempts: 2 })] })
      const request = {
        writes: [shop.newOrder('effect')],
        guards: [guard('claim')],
        events: [],
        onExisting: 'commit' as const,
      }
      expect(await shop.committer.commit(request)).toEqual({ status: 'committed', events: [] })
      expect(await shop.order('claim')).toMatchObject({ status: 'done' })
      const again = { ...request, writes: [shop.newOrder('effect-2')] }
      expect(await shop.committer.commit(again)).toEqual({
        status: 'guard-failed',
        index: 0,
        item: { id: 'claim', status: 'done', attempts: 2 },
      })
      expect(await shop.order('effect-2')).toBeUndefined()
    },
  )

  it('take no events without an outbox', async () => {
    const call = shop.committer.commit({ writes: [], events: [event], onExisting: 'commit' })
    await expect(call).rejects.toMatchObject({ code: 'INVALID_USE' })
  })

  it('with follow-up events: a duplicate never cancels, a lost claim does', async () => {
    await shop.outbox.transact({ writes: [shop.newOrder('claim', { status: 'running' })], events: [event] })
    const request = { writes: [], guards: [guard('claim')], events: [event, auto], onExisting: 'commit' as const }
    expect(await shop.outbox.commit(request)).toMatchObject({
      status: 'committed',
      events: [{ inserted: false }, { inserted: true }],
    })
    expect(await shop.outbox.commit(request)).toMatchObject({ status: 'guard-failed', index: 0 })
  })
})
