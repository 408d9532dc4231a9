import { describe, expect, it } from 'vitest'
import { createDynamoRowStore } from '../../src/relay/dynamo-row-store.ts'
import type { Mark } from '../../src/relay/row-store.ts'
import { testClock } from '../support/clock.ts'
import { awsError } from '../support/faults.ts'
import { keyOfRow, orderedRow, unorderedRow } from '../support/outbox-rows.ts'

/** A store on a client that answers as told and records what it was sent, with which signal. */
function scripted(...answers: readonly unknown[]) {
  const sent: { name: string; input: Record<string, unknown>; signal: unknown }[] = []
  const left = [...answers]
  const client = {
    send: async (command: { input: Record<string, unknown> }, options?: { abortSignal?: AbortSignal }) => {
      sent.push({ name: command.constructor.name, input: command.input, signal: options?.abortSignal })
      const answer = left.shift() ?? {}
      if (answer instanceof Error) throw answer
      return answer
    },
  }
  const clock = testClock()
  const { signal } = new AbortController()
  const store = createDynamoRowStore({ client: client as never, tableName: 'outbox', clock })
  return { store, sent, signal, sleeps: clock.sleeps }
}

const row = unorderedRow('a')
const key = keyOfRow(row)
const guard = { ...key, shard: 'p#00' }
const mark: Mark = { ...guard, expires: 9 } as Mark

describe('reads of rows', () => {
  it('ask again for what was left unprocessed, after growing pauses, and give all of it', async () => {
    const other = unorderedRow('b')
    const Keys = [{ pk: other['pk'], sk: other['sk'] }]
    const { store, sent, signal, sleeps } = scripted(
      { Responses: { outbox: [row] }, UnprocessedKeys: { outbox: { Keys } } },
      { UnprocessedKeys: { outbox: { Keys } } },
      { Responses: { outbox: [other] }, UnprocessedKeys: {} },
    )
    expect(await store.readRows([key, keyOfRow(other)], signal)).toEqual([row, other])
    expect(sent.map(({ input }) => input)).toMatchObject([
      { RequestItems: { outbox: { Keys: [{ pk: row['pk'] }, { pk: other['pk'] }] } } },
      { RequestItems: { outbox: { Keys } } },
      { RequestItems: { outbox: { Keys } } },
    ])
    expect(sleeps).toHaveLength(2)
  })

  it('are given up after a few tries', async () => {
    const Keys = [{ pk: row['pk'], sk: row['sk'] }]
    const { store, sent, signal } = scripted(...Array(20).fill({ UnprocessedKeys: { outbox: { Keys } } }))
    const error: unknown = await store.readRows([key, key], signal).catch((thrown: unknown) => thrown)
    expect(sent.length).toBeLessThan(10)
    expect(error).toMatchObject({
      code: 'UNAVAILABLE',
      message: `1 of 2 rows were still unprocessed after ${sent.length} reads.`,
    })
  })

  it('give nothing where the answer holds nothing', async () => {
    const { store, signal } = scripted()
    expect(await store.readRows([key], signal)).toEqual([])
    expect(await store.readGroup({ pk: 'G#s/g', limit: 5 }, signal)).toEqual({ images: [], more: false })
    expect(await store.readIndex({ shard: 'p#00', limit: 5 }, signal)).toEqual({ entries: [], more: false })
    expect(await store.countShard('d#0', signal)).toBe(0)
  })

  it('say whether there is more, and pass over entries that no row of ours has', async () => {
    const pk = { S: 'K#s/k' }
    const sk = { S: '-' }
    const Items = [
      { pk, sk, due: { N: '7' }, created: { N: '5' } },
      { pk, sk, due: { N: '8' } },
      { pk, sk },
      { pk, due: { N: '9' } },
    ]
    const { store, signal } = scripted({ Items, LastEvaluatedKey: { pk } }, { Items: [row], LastEvaluatedKey: { pk } })
    expect(await store.readIndex({ shard: 'p#00', limit: 5 }, signal)).toEqual({
      entries: [
        { pk: 'K#s/k', sk: '-', due: 7, created: 5 },
        { pk: 'K#s/k', sk: '-', due: 8 },
      ],
      more: true,
    })
    expect(await store.readGroup({ pk: 'G#s/g', limit: 5 }, signal)).toEqual({ images: [row], more: true })
  })

  it('of the row before tell present from absent, and a transaction under way from an error', async () => {
    const pair = { pk: 'G#s/g', before: '0000000000000001', row: '0000000000000002' } as never
    const lookAt = async (answer: unknown) => {
      const { store, signal } = scripted(answer)
      return store.readBefore(pair, signal).catch(({ name }: Error) => name)
    }
    expect(await lookAt({ Responses: [{ Item: orderedRow('g', 1) }, {}] })).toBe('present')
    expect(await lookAt({ Responses: [{}, {}] })).toBe('absent')
    expect(await lookAt({})).toBe('absent')
    expect(await lookAt(awsError('TransactionCanceledException'))).toBe('busy')
    expect(await lookAt(awsError('AccessDeniedException'))).toBe('AccessDeniedException')
  })
})

describe('writes', () => {
  it('that the condition refuses have found the row gone; any other error is thrown', async () => {
    const change = async (answer: unknown) => {
      const { store, signal } = scripted(answer)
      return store.addAccepted(guard, ['q'], signal).catch(({ name }: Error) => name)
    }
    expect(await change({})).toBe('landed')
    expect(await change(awsError('ConditionalCheckFailedException'))).toBe('gone')
    expect(await change(awsError('ThrottlingException'))).toBe('ThrottlingException')
  })

  it.each([
    [{}, 'landed'],
    [{ Error: { Code: 'ConditionalCheckFailed' } }, 'gone'],
    [{ Error: { Code: 'TransactionConflict' } }, 'busy'],
    [{ Error: { Code: 'ThrottlingError' } }, 'busy'],
    [{ Error: { Code: 'ProvisionedThroughputExceeded' } }, 'busy'],
    [{ Error: { Code: 'RequestLimitExceeded' } }, 'busy'],
    [{ Error: { Code: 'InternalServerError' } }, 'busy'],
    [{ Error: { Code: 'AccessDenied' } }, 'failed'],
    [{ Error: {} }, 'failed'],
  ])('of marks: a statement answered %j is %s', async (response, expected) => {
    const { store, signal } = scripted({ Responses: [response] })
    expect(await store.markRelayed([mark], signal)).toEqual([expected])
  })

  it('of marks: a statement that is not answered has failed', async () => {
    for (const answer of [{}, { Responses: [] }, { Responses: [{}] }]) {
      const { store, signal } = scripted(answer)
      expect((await store.markRelayed([mark, mark], signal)).at(-1)).toBe('failed')
    }
  })
})

it('every request ends with its signal', async () => {
  const { store, sent, signal } = scripted()
  await store.readRows([key], signal)
  await store.readGroup({ pk: 'G#s/g', limit: 1 }, signal)
  await store.readBefore({ pk: 'G#s/g', before: '1', row: '2' } as never, signal)
  await store.markRelayed([mark], signal)
  await store.addAccepted(guard, ['q'], signal)
  await store.deadLetter(guard, { shard: 'd#0', reason: 'x', at: 1, accepted: [] }, signal)
  await store.list({ ...key, shard: 'p#00' }, 1, signal)
  await store.readIndex({ shard: 'p#00', limit: 1 }, signal)
  await store.countShard('d#0', signal)
  await store.readHeartbeat('eu-west-1', signal)
  await store.writeHeartbeat('eu-west-1', { at: 1, pending: 0, oldestPendingMs: 0 }, signal)
  expect(sent).toHaveLength(11)
  expect(sent.every((request) => request.signal === signal)).toBe(true)
})
