import { describe, expect, it } from 'vitest'
import { afterFailure, prove } from '../../src/outbox/after-failure.ts'
import { planAttempt } from '../../src/outbox/attempt.ts'
import { marshalAction } from '../../src/outbox/attribute-form.ts'
import { buildRow } from '../../src/outbox/build-row.ts'
import type { CommitRequest } from '../../src/outbox/commit.ts'
import { openCall } from '../../src/outbox/open-call.ts'
import type { OwnAction } from '../../src/outbox/own-action.ts'
import { rowKey } from '../../src/outbox/row.ts'
import type { Session } from '../../src/outbox/session.ts'
import { testClock } from '../support/clock.ts'
import { awsError, networkError } from '../support/faults.ts'

const write = (n: number) => ({ Delete: { TableName: 'orders', Key: { pk: { S: `o${n}` } } } })
const guard: OwnAction = {
  Delete: {
    TableName: 'ledger',
    Key: { pk: 'e' },
    ConditionExpression: 'x',
    ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
  },
}
const keyed = (key: string) => ({ source: 'shop', type: 't', key, data: 1 })
const auto = { source: 'shop', type: 't', group: 'g', sequence: 'auto' as const, data: 1 }

type Stored = 'own' | 'equal' | 'different'

/** One attempt of a call: two writes, one guard, and the events given. */
async function attemptOf({
  events = [keyed('a'), keyed('b')] as CommitRequest['events'],
  onExisting = 'cancel' as CommitRequest['onExisting'],
  skipped = new Set<number>(),
  maybeApplied = false,
} = {}) {
  const rows = new Map<string, Record<string, unknown>>()
  const reads: string[] = []
  let broken: Error | undefined
  const session = {
    kind: 'client',
    region: async () => 'eu-west-1',
    fromOwn: marshalAction,
    toClientForm: (item: unknown) => ({ shown: item }),
    readRow: async (_: string, { pk, sk }: { pk: string; sk: string }) => {
      reads.push(pk)
      if (broken !== undefined) throw broken
      return rows.get(`${pk} ${sk}`)
    },
  } as unknown as Session
  const clock = testClock()
  const request = { writes: [write(1), write(2)], guards: [guard], events, onExisting }
  const call = await openCall({ session, clock, outbox: { tableName: 'outbox' } }, request)
  if (call === undefined) throw new Error('two events of one key')
  const identities = call.events.drafts.map(
    ({ identity }, n) => identity ?? { source: 'shop', group: 'g', sequence: n + 1 },
  )
  const attempt = planAttempt(call, identities, { token: 'token', skipped })

  /** The row of the n-th event as it stands, of this call or of another. */
  const imageOf = (n: number, stored: Stored): Record<string, unknown> => {
    const [draft, identity] = [call.events.drafts[n], identities[n]]
    if (draft === undefined || identity === undefined) throw new Error(`no event ${n}`)
    const stamp = { ...call.stamp, instance: stored === 'own' ? call.stamp.instance : 'another' }
    const dataText = stored === 'different' ? '2' : draft.dataText
    return { ...buildRow({ ...draft, dataText }, identity, stamp) }
  }
  const failed = (error: unknown) => ({ call, attempt, maybeApplied, error })
  return {
    session,
    reads,
    imageOf,
    store: (n: number, stored: Stored) => {
      const { pk, sk } = rowKey(identities[n] ?? { source: '', key: '' })
      rows.set(`${pk} ${sk}`, imageOf(n, stored))
    },
    breakReads: (error: Error) => {
      broken = error
    },
    after: (error: unknown) => afterFailure(session, failed(error)),
    prove: (error: unknown = networkError()) => prove(session, failed(error)),
  }
}
type Tried = Awaited<ReturnType<typeof attemptOf>>

const FAILED = 'ConditionalCheckFailed'
type Reason = string | readonly [code: string, item: object]
/** The reasons of two writes, one guard and the rows. */
const cancelled = (...reasons: readonly Reason[]) =>
  awsError('TransactionCanceledException', {
    CancellationReasons: reasons.map((reason) =>
      typeof reason === 'string' ? { Code: reason } : { Code: reason[0], Item: reason[1] },
    ),
  })
const eventsOf = (outcome: unknown) => (outcome as { done: { events: { inserted: boolean }[] } }).done.events

describe('an error that names no reasons', () => {
  it('of what is wrong in itself is thrown, with what DynamoDB calls it', async () => {
    const cause = awsError('ValidationException')
    await expect((await attemptOf()).after(cause)).rejects.toMatchObject({
      code: 'INVALID_TRANSACTION',
      message:
        'The transaction was refused by DynamoDB (ValidationException); nothing was written. The cause says why.',
      details: { reason: 'ValidationException' },
      cause,
    })
  })

  it('of a throttle asks for another try, and remembers whether an earlier one may have landed', async () => {
    for (const maybeApplied of [false, true]) {
      const cause = awsError('ThrottlingException')
      expect(await (await attemptOf({ maybeApplied })).after(cause)).toEqual({
        pace: 'busy',
        reason: 'ThrottlingException',
        cause,
        maybeApplied,
      })
    }
    const again = awsError('ThrottlingException', { $metadata: { httpStatusCode: 400, attempts: 2 } })
    expect(await (await attemptOf()).after(again)).toMatchObject({ maybeApplied: true })
  })

  it.each(['TransactionInProgressException', 'InternalServerError'])('%s may have landed', async (name) => {
    expect(await (await attemptOf()).after(awsError(name))).toMatchObject({
      pace: 'unanswered',
      reason: name,
      maybeApplied: true,
    })
  })

  it('of a refusal ends the call, unless an earlier try may have landed: then the rows tell', async () => {
    const cause = awsError('AccessDeniedException')
    const first = await attemptOf()
    expect(await first.after(cause)).toEqual({
      done: { status: 'unavailable', reason: 'AccessDeniedException', cause },
    })
    expect(first.reads).toEqual([])
    const later = await attemptOf({ maybeApplied: true })
    later.store(0, 'own')
    expect(await later.after(cause)).toMatchObject({ done: { status: 'committed' } })
    expect(await (await attemptOf({ maybeApplied: true })).after(cause)).toEqual({ done: { status: 'unknown', cause } })
  })
})

describe('a call that was never answered', () => {
  const proven = async (prepare: (tried: Tried) => void, given = {}) => {
    const tried = await attemptOf({ maybeApplied: true, ...given })
    prepare(tried)
    return tried.prove(awsError('InternalServerError'))
  }

  it('is committed if one row is its own', async () => {
    expect(await proven(({ store }) => store(1, 'own'))).toMatchObject({
      status: 'committed',
      events: [{ inserted: true }, { inserted: true }],
    })
  })

  it('is a duplicate if all rows are another call’s with equal content, and a conflict if one has other content', async () => {
    const duplicate = await proven(({ store }) => {
      store(0, 'equal')
      store(1, 'equal')
    })
    expect(duplicate).toMatchObject({ status: 'duplicate', events: [{ inserted: false }, { inserted: false }] })
    expect(await proven(({ store }) => store(1, 'different'))).toEqual({ status: 'conflict' })
  })

  it('was not applied if a row could be left out, and is busy then', async () => {
    expect(await proven(({ store }) => store(0, 'equal'), { onExisting: 'commit' })).toMatchObject({
      status: 'busy',
      reason: 'InternalServerError',
    })
  })

  it('is unknown if nothing is found, or nothing can be read', async () => {
    expect(await proven(() => {})).toMatchObject({ status: 'unknown' })
    expect(await proven(({ breakReads }) => breakReads(networkError()))).toMatchObject({ status: 'unknown' })
  })
})

describe('a token that is known with other content', () => {
  const mismatch = awsError('IdempotentParameterMismatchException')

  it('is an earlier call’s that did the same work', async () => {
    for (const onExisting of ['cancel', 'commit'] as const) {
      const tried = await attemptOf({ onExisting })
      tried.store(0, 'equal')
      tried.store(1, 'equal')
      expect(await tried.after(mismatch)).toMatchObject({ done: { status: 'duplicate' } })
    }
  })

  it('is a mistake where no row says otherwise', async () => {
    await expect((await attemptOf()).after(mismatch)).rejects.toMatchObject({
      code: 'INVALID_USE',
      message:
        'The token was used for another transaction within ten minutes, so nothing was written now. Give each call its own token, or none.',
      cause: mismatch,
    })
  })

  it('is unknown after a try that may have landed, and where the rows cannot be read', async () => {
    expect(await (await attemptOf({ maybeApplied: true })).after(mismatch)).toMatchObject({
      done: { status: 'unknown' },
    })
    const unread = await attemptOf()
    unread.breakReads(networkError())
    expect(await unread.after(mismatch)).toMatchObject({ done: { status: 'unknown' } })
  })

  it('is a conflict, or this very call, by its rows', async () => {
    const other = await attemptOf()
    other.store(0, 'different')
    expect(await other.after(mismatch)).toEqual({ done: { status: 'conflict' } })
    const own = await attemptOf()
    own.store(0, 'own')
    expect(await own.after(mismatch)).toMatchObject({ done: { status: 'committed' } })
  })
})

describe('a cancelled transaction', () => {
  it('by the caller’s condition says which, with the old item in the client’s form where there is one', async () => {
    const cause = cancelled('None', [FAILED, { pk: { S: 'o2' } }], 'None', 'None', 'None')
    expect(await (await attemptOf()).after(cause)).toEqual({
      done: { status: 'condition-failed', index: 1, cause, item: { shown: { pk: { S: 'o2' } } } },
    })
    const silent = await (await attemptOf()).after(cancelled(FAILED, 'None', 'None', 'None', 'None'))
    expect(silent).toMatchObject({ done: { status: 'condition-failed', index: 0 } })
    expect((silent as { done: object }).done).not.toHaveProperty('item')
  })

  it('by a guard says which, with what stands there as native values', async () => {
    const tried = await attemptOf()
    expect(await tried.after(cancelled('None', 'None', [FAILED, { token: { S: 't2' } }], 'None', 'None'))).toEqual({
      done: { status: 'guard-failed', index: 0, item: { token: 't2' } },
    })
    const silent = await (await attemptOf()).after(cancelled('None', 'None', FAILED, 'None', 'None'))
    expect(silent).toEqual({ done: { status: 'guard-failed', index: 0 } })
  })

  it('by an action that is wrong in itself is thrown, with its place among all', async () => {
    const cause = cancelled('None', 'ValidationError', 'None', 'None', 'None')
    await expect((await attemptOf()).after(cause)).rejects.toMatchObject({
      code: 'INVALID_TRANSACTION',
      message:
        'Action 1 of the transaction was refused by DynamoDB (ValidationError); nothing was written. The cause says why.',
      details: { reason: 'ValidationError', index: 1 },
      cause,
    })
  })

  it('by a conflict or a throttle is tried again under that reason', async () => {
    const cause = cancelled('None', 'TransactionConflict', 'None', 'None', 'None')
    expect(await (await attemptOf()).after(cause)).toEqual({
      pace: 'busy',
      reason: 'TransactionConflict',
      cause,
      maybeApplied: false,
    })
  })

  it('by a row is judged by what stands there, without a read', async () => {
    const by = async (stored: Stored) => {
      const tried = await attemptOf()
      const outcome = await tried.after(cancelled('None', 'None', 'None', 'None', [FAILED, tried.imageOf(1, stored)]))
      expect(tried.reads).toEqual([])
      return outcome
    }
    expect(await by('own')).toMatchObject({ done: { status: 'committed' } })
    expect(await by('different')).toEqual({ done: { status: 'conflict' } })
  })

  it('by rows that DynamoDB does not show is judged by a read of them', async () => {
    const tried = await attemptOf()
    tried.store(0, 'equal')
    tried.store(1, 'equal')
    expect(await tried.after(cancelled('None', 'None', 'None', FAILED, 'None'))).toMatchObject({
      done: { status: 'duplicate' },
    })
    expect(tried.reads.toSorted()).toEqual(['K#shop/a', 'K#shop/b'])
  })

  it('whose reasons cannot be read at all is judged by all its rows', async () => {
    const tried = await attemptOf()
    tried.store(1, 'own')
    expect(await tried.after(awsError('TransactionCanceledException'))).toMatchObject({ done: { status: 'committed' } })
  })

  it('whose rows cannot be read is unavailable, or unknown after a try that may have landed', async () => {
    for (const maybeApplied of [false, true]) {
      const tried = await attemptOf({ maybeApplied })
      tried.breakReads(awsError('AccessDeniedException'))
      expect(await tried.after(cancelled('None', 'None', 'None', FAILED, 'None'))).toMatchObject({
        done: maybeApplied ? { status: 'unknown' } : { status: 'unavailable', reason: 'AccessDeniedException' },
      })
    }
  })

  it('by a duplicate goes on without it, where that is wanted, and without those left out before', async () => {
    const events = ['a', 'b', 'c', 'd'].map(keyed)
    const tried = await attemptOf({ events, onExisting: 'commit', skipped: new Set([0]) })
    const cause = cancelled('None', 'None', 'None', 'None', [FAILED, tried.imageOf(2, 'equal')], 'None')
    expect(await tried.after(cause)).toEqual({
      pace: 'busy',
      reason: FAILED,
      cause,
      maybeApplied: false,
      skipped: new Set([0, 2]),
    })
  })

  it('by a number that another call took goes on with a new one', async () => {
    const tried = await attemptOf({ events: [auto, keyed('a')] })
    const cause = cancelled('None', 'None', 'None', [FAILED, tried.imageOf(0, 'equal')], 'None')
    expect(await tried.after(cause)).toMatchObject({ pace: 'busy', reason: FAILED, skipped: new Set() })
  })
})

describe('what became of the events', () => {
  it('is told in the order of the call, twins and those left out as not inserted', async () => {
    const tried = await attemptOf({
      events: [keyed('a'), keyed('b'), keyed('a')],
      onExisting: 'commit',
      skipped: new Set([1]),
    })
    const own = cancelled('None', 'None', 'None', [FAILED, tried.imageOf(0, 'own')])
    expect(eventsOf(await tried.after(own)).map(({ inserted }) => inserted)).toEqual([true, false, false])
  })

  it('of a duplicate is told without the numbers that the first run gave', async () => {
    const tried = await attemptOf({ events: [auto, keyed('a')], maybeApplied: true })
    tried.store(1, 'equal')
    expect(await tried.prove()).toMatchObject({
      status: 'duplicate',
      events: [{ inserted: false }, { id: expect.any(String), inserted: false }],
    })
    const events = (await tried.prove()) as unknown as { events: object[] }
    expect(events.events[0]).toEqual({ inserted: false })
  })
})
