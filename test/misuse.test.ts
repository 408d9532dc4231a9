import { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { SQSClient } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import { createConsumer, createLedger, createSqsQueue, on, processOnce } from '../src/consumer/index.ts'
import { createOutbox, createTables, defineEvent } from '../src/index.ts'
import { redriveMessages, redriveRow } from '../src/ops/index.ts'
import { createRelay, createSqsPublisher } from '../src/relay/index.ts'
import { createQueue } from '../src/testing/sqs-create-queue.ts'

/** What a caller without a compiler can get wrong: refused at once, with a code, the place, and what is allowed. */

const client = new DynamoDBClient({ region: 'eu-west-1' })
const sqs = new SQSClient({ region: 'eu-west-1' })
const queueUrl = 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo'
const deadLetterQueueUrl = queueUrl.replace('orders', 'orders-dead')
const ledger = createLedger({ client, tableName: 'ledger' })
const queue = createSqsQueue({ client: sqs, deadLetterQueueUrl })
const handlers = [on('t', 'a', () => {})]
const routes = [{ to: createSqsPublisher({ client: sqs, queueUrl }) }]
const outbox = createOutbox({ client, tableName: 'outbox' })
const event = { source: 's', key: 'k', type: 't', data: 1 }

/** Takes any argument, as a caller without a compiler does. */
const loosely = (fn: (...given: never[]) => unknown, ...given: readonly unknown[]) => fn(...(given as never[]))
const OBJECT = 'must be given an object of options; allowed are'
const URL = 'must be the URL of a queue, such as https://'

const CASES: ReadonlyArray<readonly [title: string, says: string, run: () => unknown]> = [
  ['an outbox without options', `createOutbox ${OBJECT}`, () => loosely(createOutbox)],
  [
    'an outbox on a client of SQS',
    'client must be a client of DynamoDB',
    () => loosely(createOutbox, { client: sqs, tableName: 'x' }),
  ],
  [
    'an outbox on text',
    'documentClient must be a client of DynamoDB',
    () => loosely(createOutbox, { documentClient: 'x', tableName: 'x' }),
  ],
  ['tables without a client', 'client must be a client of DynamoDB', () => loosely(createTables, { outboxTable: 'x' })],
  [
    'a send that is no function',
    'send must be a function',
    () => loosely(outbox.transact, { events: [event], send: 1 }),
  ],
  [
    'a schema of another kind',
    'schema must be a Standard Schema',
    () => loosely(defineEvent, { type: 't', schema: {} }),
  ],
  ['a handler without a function', 'handle must be a function', () => loosely(on, 't', 'a')],
  ['a handler without a type', 'type must be 1–128', () => loosely(on, undefined, 'a', () => {})],
  ['a handler with a slash', 'handler name must be 1–64', () => on('t', 'a/b', () => {})],
  ['a consumer without options', `createConsumer ${OBJECT}`, () => loosely(createConsumer)],
  ['a consumer without a name', 'name must be 1–64', () => loosely(createConsumer, { ledger, queue, handlers })],
  [
    'a consumer without a queue',
    'queue must be made by createSqsQueue',
    () => loosely(createConsumer, { name: 'c', ledger, handlers }),
  ],
  [
    'a consumer without a ledger',
    'ledger must be made by createLedger',
    () => loosely(createConsumer, { name: 'c', queue, handlers }),
  ],
  [
    'a consumer without handlers',
    'handlers must hold at least one',
    () => loosely(createConsumer, { name: 'c', queue, ledger }),
  ],
  [
    'a bare function as a handler',
    'handlers[0] must be made by on',
    () => loosely(createConsumer, { name: 'c', queue, ledger, handlers: [() => {}] }),
  ],
  [
    'one text as ignored types',
    'ignore must be an array',
    () => loosely(createConsumer, { name: 'c', queue, ledger, handlers, ignore: 'abc' }),
  ],
  ['a ledger without a table', 'tableName must be', () => loosely(createLedger, { client })],
  [
    'a queue without its dead-letter queue',
    `deadLetterQueueUrl ${URL}`,
    () => loosely(createSqsQueue, { client: sqs }),
  ],
  [
    'an ARN for a URL',
    `deadLetterQueueUrl ${URL}`,
    () => createSqsQueue({ client: sqs, deadLetterQueueUrl: 'arn:aws:sqs:eu-west-1:123456789012:d' }),
  ],
  [
    'a queue as its own dead-letter queue',
    'must not be the queue itself',
    () => createSqsQueue({ client: sqs, queueUrl, deadLetterQueueUrl: queueUrl }),
  ],
  [
    'a standard dead-letter queue of a FIFO queue',
    'must be FIFO if the queue is',
    () => redriveMessages({ client: sqs, queueUrl, deadLetterQueueUrl: 'https://sqs/1/dead' }, () => true),
  ],
  ['a publisher with an empty URL', `queueUrl ${URL}`, () => createSqsPublisher({ client: sqs, queueUrl: '' })],
  [
    'a publisher on a client of DynamoDB',
    'client must be a client of SQS',
    () => loosely(createSqsPublisher, { client, queueUrl }),
  ],
  ['a relay without routes', 'routes must hold at least one', () => loosely(createRelay, { client, tableName: 'x' })],
  ['a relay without a table', 'tableName must be the name', () => loosely(createRelay, { client, routes })],
  [
    'a URL as a destination',
    'routes[0].to must be a destination',
    () => loosely(createRelay, { client, tableName: 'x', routes: [{ to: queueUrl }] }),
  ],
  [
    'a row redriven without a client',
    'client must be a client of DynamoDB',
    () => loosely(redriveRow, { tableName: 'x' }, 'id'),
  ],
  [
    'an event without an id',
    'eventId must be text',
    () => loosely(processOnce, ledger, { consumer: 'c', handler: 'h' }, () => {}),
  ],
  ['a local queue with a space', 'name must be 1–70', () => createQueue(sqs, 'a b')],
]

describe('misuse', () => {
  it.each(CASES)('refuses %s', async (_, says, run) => {
    const error: unknown = await Promise.resolve()
      .then(run)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'OutboxError', code: expect.stringMatching(/^INVALID_(SETTING|EVENT)$/) })
    expect(String(error)).toContain(says)
  })
})
