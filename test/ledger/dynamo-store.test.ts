import type { BatchExecuteStatementCommandOutput, BatchGetItemCommandOutput } from '@aws-sdk/client-dynamodb'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEFAULT_BACKOFF } from '../../src/backoff.ts'
import { createClaims } from '../../src/ledger/claims.ts'
import { createDynamoStore } from '../../src/ledger/dynamo-store.ts'
import type { Entry } from '../../src/ledger/entry.ts'
import type { Claim } from '../../src/ledger/ledger.ts'
import type { LedgerWrite } from '../../src/ledger/ledger-store.ts'
import { proves } from '../cases.ts'
import { testClock } from '../support/clock.ts'
import { startDynamo, type TestDynamo } from '../support/dynamo.ts'
import { addFaults, awsError, type Faults, networkError } from '../support/faults.ts'
import { createLedgerTable } from '../support/ledger-table.ts'

const row: Entry = {
  id: 'e1',
  name: 'c/h',
  status: 'running',
  token: 't1',
  lease: 5,
  attempts: 0,
  due: 0,
  life: 1,
  expires: 9,
}
const insert = (id: string): LedgerWrite => ({ kind: 'insert', entry: { ...row, id } })
const update: LedgerWrite = {
  kind: 'update',
  key: row,
  expect: { token: 't1', status: 'running' },
  set: { status: 'failed', attempts: 1, due: 7, failure: 'no stock' },
}

/** A client that answers as told, and records what it was sent. */
function scripted(...answers: readonly unknown[]) {
  const inputs: Record<string, unknown>[] = []
  const left = [...answers]
  const send = async ({ input }: { input: Record<string, unknown> }) => {
    inputs.push(input)
    const answer = left.shift()
    if (answer instanceof Error) throw answer
    return answer
  }
  return { client: { send } as never, inputs }
}
const responses = (...Responses: NonNullable<BatchExecuteStatementCommandOutput['Responses']>) => ({ Responses })
const refused = (Code: 'ConditionalCheckFailed' | 'DuplicateItem') => ({ Error: { Code, Message: '' } })
const item = { pk: { S: 'e1' }, sk: { S: 'c/h' }, status: { S: 'done' }, token: { S: 't9' }, lease: { N: '5' } }
const stored = { ...item, attempts: { N: '0' }, life: { N: '1' }, expires: { N: '9' } }

describe('statements', () => {
  it('are an INSERT of every attribute, or an UPDATE of one SET list conditional on token and status', async () => {
    const { client, inputs } = scripted(responses({}, {}))
    const store = createDynamoStore({ client, tableName: 'my.ledger-1', clock: testClock() })
    expect(await Promise.all([store.write(insert('e2')), store.write(update)])).toEqual([
      { status: 'applied' },
      { status: 'applied' },
    ])
    const statements = inputs[0]?.Statements as { Statement: string; Parameters: Record<string, string>[] }[]
    expect(
      statements.map(({ Statement, Parameters }) => [Statement, Parameters.map((value) => Object.values(value)[0])]),
    ).toEqual([
      [
        `INSERT INTO "my.ledger-1" VALUE {'pk': ?, 'sk': ?, 'status': ?, 'token': ?, 'lease': ?, 'attempts': ?, 'due': ?, 'life': ?, 'expires': ?}`,
        ['e2', 'c/h', 'running', 't1', '5', '0', '0', '1', '9'],
      ],
      [
        'UPDATE "my.ledger-1" SET "status" = ?, "attempts" = ?, "due" = ?, "failure" = ? WHERE "pk" = ? AND "sk" = ? AND "token" = ? AND "status" = ?',
        ['failed', '1', '7', 'no stock', 'e1', 'c/h', 't1', 'running'],
      ],
    ])
    expect(statements).toEqual(
      statements.map((statement) => ({ ...statement, ReturnValuesOnConditionCheckFailure: 'ALL_OLD' })),
    )
  })
})

describe('answers', () => {
  const write = async (...answers: readonly unknown[]) => {
    const { client, inputs } = scripted(...answers)
    const answer = await createDynamoStore({ client, tableName: 'ledger', clock: testClock() }).write(insert('e1'))
    return { answer, requests: inputs.length, inputs }
  }

  it('of a refusal carry the row, and no read follows, where the engine gives it', async () => {
    const { answer, requests } = await write(responses({ Error: { Code: 'DuplicateItem', Message: '', Item: stored } }))
    expect(answer).toMatchObject({ status: 'refused', entry: { status: 'done', token: 't9' } })
    expect(requests).toBe(1)
  })

  it('of a refusal without the row are followed by one consistent read', async () => {
    const read: Partial<BatchGetItemCommandOutput> = { Responses: { ledger: [stored] } }
    const { answer, inputs } = await write(responses(refused('DuplicateItem')), read)
    expect(answer).toMatchObject({ status: 'refused', entry: { token: 't9' } })
    expect(inputs[1]).toEqual({
      RequestItems: { ledger: { Keys: [{ pk: { S: 'e1' }, sk: { S: 'c/h' } }], ConsistentRead: true } },
    })
  })

  it('of a row gone in between say so', async () => {
    const { answer } = await write(responses(refused('ConditionalCheckFailed')), { Responses: { ledger: [] } })
    expect(answer).toEqual({ status: 'refused', entry: undefined })
  })

  it('wait for rows left unprocessed, a few times', async () => {
    const Keys = [{ pk: { S: 'e1' }, sk: { S: 'c/h' } }]
    const unprocessed = { Responses: {}, UnprocessedKeys: { ledger: { Keys, ConsistentRead: true } } }
    const found = await write(responses(refused('DuplicateItem')), unprocessed, { Responses: { ledger: [stored] } })
    expect(found.answer.status).toBe('refused')
    const last = await write(
      responses(refused('DuplicateItem')),
      ...[unprocessed, unprocessed, { UnprocessedKeys: unprocessed.UnprocessedKeys }],
      { Responses: { ledger: [stored] }, UnprocessedKeys: { ledger: { Keys: [] } } },
    )
    expect(last).toMatchObject({ answer: { status: 'refused' }, requests: 5 })
    const never = await write(responses(refused('DuplicateItem')), unprocessed, unprocessed, unprocessed, unprocessed)
    expect(never).toMatchObject({ answer: { status: 'failed', reason: 'RowNotRead', retryable: false }, requests: 5 })
  })

  it('tell a throttled statement from one that can never be applied', async () => {
    const code = async (Code: string) =>
      (await write(responses({ Error: { Code: Code as never, Message: '' } }))).answer
    expect(await code('ThrottlingError')).toEqual({ status: 'failed', reason: 'ThrottlingError', retryable: true })
    expect(await code('TransactionConflict')).toMatchObject({ retryable: true })
    expect(await code('InternalServerError')).toMatchObject({ retryable: true })
    expect(await code('ProvisionedThroughputExceeded')).toMatchObject({ retryable: true })
    expect(await code('RequestLimitExceeded')).toMatchObject({ retryable: true })
    expect(await code('AccessDenied')).toMatchObject({ status: 'failed', retryable: false })
    expect(await code('ResourceNotFound')).toMatchObject({ status: 'failed', retryable: false })
    expect((await write(responses({ Error: {} }))).answer).toEqual({
      status: 'failed',
      reason: 'Error',
      retryable: false,
    })
  })

  it('never take a statement left out of the answer for applied', async () => {
    const unanswered = { status: 'failed', reason: 'NoAnswer', retryable: true }
    expect((await write(responses())).answer).toEqual(unanswered)
    expect((await write({})).answer).toEqual(unanswered)
  })

  it('of a failed read do not touch those of the statements that were applied', async () => {
    const { client } = scripted(responses({}, refused('DuplicateItem')), awsError('ThrottlingException'))
    const store = createDynamoStore({ client, tableName: 'ledger', clock: testClock() })
    const answers = await Promise.all([store.write(insert('e2')), store.write(insert('e1'))])
    expect(answers).toEqual([{ status: 'applied' }, { status: 'failed', reason: 'RowNotRead', retryable: false }])
  })

  it('of a request that fails as a whole name the error', async () => {
    expect((await write(awsError('AccessDeniedException'))).answer).toMatchObject({ reason: 'AccessDeniedException' })
  })

  it('of a row that this code did not write leave it alone', async () => {
    const { answer } = await write(
      responses({ Error: { Code: 'DuplicateItem', Message: '', Item: { pk: { S: 'e1' } } } }),
    )
    expect(answer).toEqual({ status: 'failed', reason: 'UnreadableRow', retryable: false })
  })
})

describe('on an engine', () => {
  let dynamo: TestDynamo
  let faults: Faults
  let tableName: string
  beforeAll(async () => {
    dynamo = await startDynamo()
    tableName = await createLedgerTable(dynamo)
    faults = addFaults(dynamo.client)
  })
  beforeEach(() => faults.reset())
  afterAll(() => dynamo.stop())

  const setup = () => {
    const clock = { ...testClock(), id: () => crypto.randomUUID() }
    const store = createDynamoStore({ client: dynamo.client, tableName, clock })
    const ledger = createClaims({ store, clock, keepSeconds: 86_400 })
    const requests = (prefix: string) =>
      Array.from({ length: 10 }, (_, n) => ({
        id: `${prefix}-${n}`,
        name: 'c/h',
        life: 1,
        lease: clock.now() + 60_000,
        alone: false,
        maxAttempts: 8,
        backoff: DEFAULT_BACKOFF,
      }))
    return { ledger, requests }
  }

  it('ten claims and ten completions cost two requests, ten duplicates two more', async () => {
    const { ledger, requests } = setup()
    const claims = (await Promise.all(requests('ten').map(ledger.claim))).map(
      (outcome) => (outcome as { claim: Claim }).claim,
    )
    await Promise.all(claims.map(ledger.complete))
    expect(faults.calls).toEqual(['BatchExecuteStatementCommand', 'BatchExecuteStatementCommand'])
    faults.reset()
    const again = await Promise.all(requests('ten').map(ledger.claim))
    expect(again).toEqual(Array(10).fill({ status: 'done' }))
    expect(faults.calls).toEqual(['BatchExecuteStatementCommand', 'BatchGetItemCommand'])
  })

  it(
    'a claim whose answer is lost is unavailable, and its row is left to lapse',
    proves('ledger-unreachable'),
    async () => {
      const { ledger, requests } = setup()
      const [request] = requests('lost')
      if (request === undefined) throw new Error('no request')
      faults.next('BatchExecuteStatementCommand', { after: networkError() })
      expect(await ledger.claim(request)).toEqual({
        status: 'unavailable',
        reason: 'TimeoutError',
        claim: expect.objectContaining({ id: 'lost-0', name: 'c/h', status: 'running' }),
      })
      expect(await ledger.claim(request)).toEqual({ status: 'deferred', until: request.lease })
    },
  )
})
