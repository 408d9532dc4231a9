import { describe, expect, it } from 'vitest'
import { createCommitContext } from '../../src/consumer/commit-context.ts'
import { isOutboxError, OutboxError } from '../../src/errors.ts'
import { completionAction } from '../../src/ledger/dynamo-ledger.ts'
import type { Claim, Ledger } from '../../src/ledger/ledger.ts'
import type { CommitOutcome, CommitRequest, Committer } from '../../src/outbox/commit.ts'

const claim: Claim = { id: 'e1', name: 'shop/h', token: 't1', status: 'running', lease: 9, attempts: 0, life: 1 }
const cause = new Error('socket hang up')
const event = { source: 'shop', type: 't', key: 'k', data: null }

function setup(outcome: CommitOutcome | Error, withOutbox = false) {
  const requests: CommitRequest[] = []
  const committer: Committer = {
    kind: 'client',
    commit: async (request) => {
      requests.push(request)
      if (outcome instanceof Error) throw outcome
      return outcome
    },
  }
  const ledger = { completion: (owned: Claim) => completionAction('ledger', owned), committer } as unknown as Ledger
  const context = createCommitContext({ claim, ledger, deadline: 7, ...(withOutbox ? { outbox: committer } : {}) })
  return { ...context, requests }
}

/** What the handler is told, and what the commits have come to. */
async function told(outcome: CommitOutcome | Error) {
  const { commit, settled } = setup(outcome)
  const error: unknown = await commit([]).catch((thrown: unknown) => thrown)
  const { status } = await settled()
  if (!isOutboxError(error)) return { error, status }
  return { code: error.code, message: error.message, details: error.details, cause: error.cause, status }
}

describe('a commit', () => {
  it('sends items, events and the handler’s own done as one, in time, and lets duplicates be', async () => {
    const events = [{ id: '1', inserted: true }]
    const { commit, requests, settled } = setup({ status: 'committed', events }, true)
    const items = [{ Delete: { TableName: 'orders', Key: { pk: { S: 'a' } } } }]
    expect(await commit(items, { events: [event] })).toEqual(events)
    expect(requests).toEqual([
      {
        writes: items,
        guards: [completionAction('ledger', claim)],
        events: [event],
        onExisting: 'commit',
        deadline: 7,
      },
    ])
    expect(await settled()).toEqual({ status: 'landed' })
  })

  it.each<[CommitOutcome, object]>([
    [
      { status: 'condition-failed', index: 2, item: { a: 1 }, cause },
      {
        code: 'CONDITION_FAILED',
        message: 'The condition of items[2] did not hold. Nothing was written.',
        details: { index: 2, item: { a: 1 } },
        cause,
        status: 'open',
      },
    ],
    [
      { status: 'conflict' },
      {
        code: 'EVENT_CONFLICT',
        message: 'A follow-up event is stored with other content. Nothing was written.',
        details: {},
        status: 'refused',
      },
    ],
    [
      { status: 'guard-failed', index: 0, item: { token: 't2', status: 'running' } },
      {
        code: 'CLAIM_LOST',
        message: 'Another worker has taken over this event. Nothing was written.',
        details: {},
        status: 'undecided',
      },
    ],
    [
      { status: 'busy', reason: 'TransactionConflict', cause },
      {
        code: 'TRANSACTION_BUSY',
        message: 'The commit was refused for now (TransactionConflict). Nothing was written; the event comes back.',
        details: { reason: 'TransactionConflict' },
        cause,
        status: 'undecided',
      },
    ],
    [
      { status: 'unavailable', reason: 'AccessDeniedException', cause },
      {
        code: 'UNAVAILABLE',
        message: 'The commit was refused for now (AccessDeniedException). Nothing was written; the event comes back.',
        details: { reason: 'AccessDeniedException' },
        cause,
        status: 'undecided',
      },
    ],
    [
      { status: 'unknown', cause },
      {
        code: 'OUTCOME_UNKNOWN',
        message: 'No answer to the commit. The event comes back unless it was applied.',
        details: {},
        cause,
        status: 'undecided',
      },
    ],
    [
      { status: 'duplicate', events: [] },
      {
        code: 'OUTCOME_UNKNOWN',
        message: 'The commit ended in a way that cannot be. The event comes back.',
        details: {},
        status: 'undecided',
      },
    ],
  ])('that ends as %o says so', async (outcome, expected) => {
    expect(await told(outcome)).toEqual({ cause: undefined, ...expected })
  })

  it('whose condition failed names an old item only where there is one', async () => {
    const { details } = await told({ status: 'condition-failed', index: 0, cause })
    expect(Object.keys(details ?? {})).toEqual(['index'])
  })

  it.each([
    [{ token: 't1', status: 'done' }, 'landed'],
    [{ token: 't2', status: 'done' }, 'undecided'],
    [{ token: 't1', status: 'failed' }, 'undecided'],
    [undefined, 'undecided'],
  ])('that the row refuses has landed only if the row is done by this very claim: %o is %s', async (item, status) => {
    const { commit, settled } = setup({ status: 'guard-failed', index: 0, ...(item === undefined ? {} : { item }) })
    const returned = commit([]).catch(() => 'refused')
    expect(await returned).toEqual(status === 'landed' ? [] : 'refused')
    expect((await settled()).status).toBe(status)
  })

  it('that was wrong in itself is remembered with its error', async () => {
    const wrong = new OutboxError('INVALID_TRANSACTION', 'too large')
    const { commit, settled } = setup(wrong)
    await expect(commit([])).rejects.toBe(wrong)
    expect(await settled()).toEqual({ status: 'refused', error: wrong })
  })

  it.each<[string, (commit: ReturnType<typeof setup>['commit']) => Promise<unknown>, string]>([
    [
      'events without an outbox',
      (commit) => commit([], { events: [event] }),
      'commit takes events only where the consumer has an outbox.',
    ],
    [
      'an option it does not know',
      (commit) => commit([], { event } as never),
      'commit: "event" is not an option; allowed are events.',
    ],
  ])('refuses %s, and that is a failure', async (_, call, message) => {
    const { commit, settled, requests } = setup({ status: 'committed', events: [] })
    await expect(call(commit)).rejects.toMatchObject({ message })
    expect(requests).toEqual([])
    expect(await settled()).toMatchObject({ status: 'refused', error: { message } })
  })

  it('is refused after one that landed, beside one that runs, and after its handler’s end', async () => {
    const one = setup({ status: 'committed', events: [] })
    const running = one.commit([])
    await expect(one.commit([])).rejects.toMatchObject({
      code: 'INVALID_USE',
      message: 'commit is still running: await it before the next one.',
    })
    await running
    await expect(one.commit([])).rejects.toMatchObject({ message: 'commit has landed: a handler commits once.' })
    expect(await one.settled()).toEqual({ status: 'landed' })
    await expect(one.commit([])).rejects.toMatchObject({
      message: 'commit was called after its handler had ended: await all work inside the handler.',
    })
  })

  it('may follow one that was refused for now, and then decides alone', async () => {
    const outcomes: CommitOutcome[] = [
      { status: 'unavailable', reason: 'x', cause },
      { status: 'committed', events: [] },
    ]
    const committer: Committer = { kind: 'client', commit: async () => outcomes.shift() ?? { status: 'conflict' } }
    const ledger = { completion: (owned: Claim) => completionAction('ledger', owned), committer } as unknown as Ledger
    const { commit, settled } = createCommitContext({ claim, ledger, deadline: 7 })
    await expect(commit([])).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(await commit([])).toEqual([])
    expect(await settled()).toEqual({ status: 'landed' })
  })
})
