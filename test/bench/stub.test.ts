import {
  BatchExecuteStatementCommand,
  BatchGetItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { ChangeMessageVisibilityBatchCommand, SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Clients, createClients } from './clients.ts'
import { type Stub, startStub, TABLE } from './stub.ts'

let stub: Stub
let clients: Clients
beforeAll(async () => {
  stub = await startStub()
  clients = createClients('peer', { dynamo: stub.endpoint, sqs: stub.endpoint })
})
afterAll(() => stub.stop())

const entry = (n: number, body = 'x') => ({
  Id: String(n),
  MessageBody: body,
  MessageGroupId: `g${n}`,
  MessageDeduplicationId: `d${n}`,
})
const send = (Entries: object[], QueueUrl = stub.queueUrl) =>
  clients.sqs.send(new SendMessageBatchCommand({ QueueUrl, Entries: Entries as ReturnType<typeof entry>[] }))
const mark = (n: number) => ({
  Statement: `UPDATE "${TABLE}" SET "a" = ? WHERE "pk" = ?`,
  Parameters: [{ N: '1' }, { S: `k${n}` }],
})
const execute = (Statements: object[]) =>
  clients.dynamo.send(new BatchExecuteStatementCommand({ Statements: Statements as ReturnType<typeof mark>[] }))

describe('the stub', () => {
  it('takes what fits, and counts it', async () => {
    await stub.counts()
    const tens = Array.from({ length: 10 }, (_, n) => entry(n))
    expect((await send(tens)).Successful).toHaveLength(10)
    expect((await execute(Array.from({ length: 25 }, (_, n) => mark(n)))).Responses).toHaveLength(25)
    const { requests, items } = await stub.counts()
    expect(requests).toEqual({ SendMessageBatch: 1, BatchExecuteStatement: 1 })
    expect(items).toEqual({ SendMessageBatch: 10, BatchExecuteStatement: 25 })
    expect((await stub.counts()).items).toEqual({})
  })

  it.each<[string, () => Promise<unknown>, string]>([
    ['another queue', () => send([entry(1)], stub.queueUrl.replace('bench', 'other')), 'QueueDoesNotExist'],
    ['eleven entries', () => send(Array.from({ length: 11 }, (_, n) => entry(n))), 'TooManyEntriesInBatchRequest'],
    ['two entries of one id', () => send([entry(1), entry(1)]), 'BatchEntryIdsNotDistinct'],
    [
      'more than 1 MiB',
      () => send([entry(1, 'x'.repeat(600_000)), entry(2, 'x'.repeat(600_000))]),
      'BatchRequestTooLong',
    ],
    ['an entry without a group', () => send([{ ...entry(1), MessageGroupId: undefined }]), 'MissingParameter'],
    [
      'a change of visibility without a handle',
      () =>
        clients.sqs.send(
          new ChangeMessageVisibilityBatchCommand({
            QueueUrl: stub.queueUrl,
            Entries: [{ Id: '0', ReceiptHandle: '', VisibilityTimeout: 1 }],
          }),
        ),
      'MissingParameter',
    ],
    ['26 statements', () => execute(Array.from({ length: 26 }, (_, n) => mark(n))), 'ValidationException'],
    ['two statements on one item', () => execute([mark(1), mark(1)]), 'ValidationException'],
    ['a parameter too many', () => execute([{ ...mark(1), Parameters: [{ N: '1' }] }]), 'ValidationException'],
    [
      'a statement on another table',
      () => execute([{ ...mark(1), Statement: 'UPDATE "x" SET "a" = ?' }]),
      'ValidationException',
    ],
    [
      'an update without a key',
      () => clients.dynamo.send(new UpdateItemCommand({ TableName: TABLE, Key: {}, UpdateExpression: 'SET a = a' })),
      'ValidationException',
    ],
    [
      'a placeholder that nothing uses',
      () =>
        clients.dynamo.send(
          new TransactWriteItemsCommand({
            TransactItems: [
              { Put: { TableName: TABLE, Item: { pk: { S: 'a' } }, ExpressionAttributeNames: { '#x': 'x' } } },
            ],
          }),
        ),
      'ValidationException',
    ],
    [
      'an action that no part of the benchmark needs',
      () => clients.dynamo.send(new BatchGetItemCommand({ RequestItems: { [TABLE]: { Keys: [{ pk: { S: 'a' } }] } } })),
      'ValidationException',
    ],
  ])('refuses %s', async (_, request, name) => {
    await expect(request()).rejects.toMatchObject({ name: expect.stringContaining(name) })
  })
})
