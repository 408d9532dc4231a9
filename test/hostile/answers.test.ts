import { describe, expect, it } from 'vitest'
import { createSqsQueue } from '../../src/consumer/sqs-queue.ts'
import { isOutboxError } from '../../src/errors.ts'
import { createLedger } from '../../src/ledger/dynamo-ledger.ts'
import { createDynamoStore } from '../../src/ledger/dynamo-store.ts'
import { createOutbox } from '../../src/outbox/create-outbox.ts'
import { createEventBridgePublisher } from '../../src/relay/event-bridge-publisher.ts'
import { createRelay } from '../../src/relay/relay.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import { createSweeper } from '../../src/relay/sweeper.ts'
import { streamRecord } from '../../src/testing/records.ts'
import { proves } from '../cases.ts'
import { testClock } from '../support/clock.ts'
import { orderedRow, REGION, unorderedRow } from '../support/outbox-rows.ts'
import { silent } from '../support/pipeline.ts'
import { SECRET, THROWN, textOf } from './hostile-things.ts'

type Sent = { readonly constructor: { readonly name: string }; readonly input: Record<string, unknown> }

/** A client whose every request is answered by `answer`. */
const clientOf = (answer: (command: Sent) => unknown): never =>
  ({ send: async (command: Sent) => answer(command), config: { region: async () => REGION } }) as never

const throws = (make: () => unknown) => () => {
  throw make()
}
const QUEUE = 'https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo'
const DEAD = QUEUE.replace('orders', 'dead')
const MESSAGES = [0, 1, 2].map((n) => ({
  deduplicationId: `d${n}`,
  groupId: `g${n}`,
  body: '{}',
  source: 's',
  type: 't',
}))

/** Answers without sense, to any request. */
const NONSENSE: ReadonlyArray<readonly [title: string, answer: () => unknown]> = [
  ['nothing', () => undefined],
  ['null', () => null],
  ['text', () => SECRET],
  ['an empty object', () => ({})],
  ['a frozen array', () => Object.freeze([])],
  ['lists of null', () => listsOf(null)],
  ['empty lists', () => listsOf([])],
  ['lists of nulls', () => listsOf([null, null, null])],
  ['lists of text', () => listsOf(['0', '1', '2'])],
  ['lists of empty objects', () => listsOf([{}, {}, {}])],
  ['objects for lists', () => listsOf({})],
  ['numbers for lists', () => listsOf(5)],
  ...THROWN.map(([title, make]): [string, () => never] => [`an error that is ${title}`, throws(make)]),
]

function listsOf(list: unknown): object {
  const names = [
    'Successful',
    'Failed',
    'Entries',
    'Responses',
    'Items',
    'UnprocessedKeys',
    'Messages',
    'Item',
    'Count',
  ]
  return Object.fromEntries(names.map((name) => [name, list]))
}

describe('SendMessageBatch', () => {
  const publish = (answer: () => unknown) =>
    createSqsPublisher({ client: clientOf(answer), queueUrl: QUEUE }).publish(MESSAGES)

  it.each(NONSENSE)('that answers %s was not accepted', proves('entry-refused-in-200'), async (_, answer) => {
    const outcomes = await publish(answer)
    expect(outcomes.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
    expect(textOf(outcomes)).not.toContain(SECRET)
  })

  it.each<[title: string, answer: object, accepted: readonly number[]]>([
    ['ids in another order', { Successful: ids('2', '0', '1') }, [0, 1, 2]],
    ['ids twice', { Successful: ids('1', '1', '1') }, [1]],
    ['ids that were never sent', { Successful: ids('7', '-1', '01', ' 0', 'g0') }, []],
    ['ids that are numbers', { Successful: [{ Id: 0 }, { Id: 1 }] }, []],
    ['an entry in both lists', { Successful: ids('0', '1'), Failed: [{ Id: '1', Code: 'InternalError' }] }, [0]],
    ['a failure without a code', { Successful: ids('0'), Failed: ids('1', '2') }, [0]],
  ])('that answers %s is read entry by entry', proves('entry-refused-in-200'), async (_, answer, accepted) => {
    const outcomes = await publish(() => answer)
    expect(outcomes.map(({ status }) => status)).toEqual(
      [0, 1, 2].map((n) => (accepted.includes(n) ? 'accepted' : 'failed')),
    )
  })

  function ids(...all: readonly string[]) {
    return all.map((Id) => ({ Id }))
  }
})

describe('PutEvents', () => {
  it.each(NONSENSE)('that answers %s was not accepted', async (_, answer) => {
    const bus = createEventBridgePublisher({
      client: clientOf((command) => (command.constructor.name === 'DescribeEventBusCommand' ? {} : answer())),
      busName: 'bus',
    })
    const outcomes = await bus.publish(MESSAGES)
    expect(outcomes.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
    expect(textOf(outcomes)).not.toContain(SECRET)
  })

  it.each(THROWN)('sends nothing to a bus whose look throws %s', async (_, make) => {
    const bus = createEventBridgePublisher({ client: clientOf(throws(make)), busName: 'bus' })
    expect((await bus.publish(MESSAGES)).map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
  })
})

describe("a consumer's queue", () => {
  it.each(NONSENSE)('that answers %s gives an outcome for each entry', async (_, answer) => {
    const queue = createSqsQueue({ client: clientOf(answer), queueUrl: QUEUE, deadLetterQueueUrl: DEAD })
    const entries = ['a', 'b', 'c'].map((receiptHandle) => ({ receiptHandle, seconds: 1 }))
    const outcomes = await queue.setVisibility('', entries)
    expect(outcomes).toHaveLength(3)
    expect(outcomes).not.toContain('lost')
    const copy = { body: '{}', groupId: 'g', deduplicationId: 'd', attributes: {} }
    expect(textOf([await queue.deadLetter(copy)])).not.toContain(SECRET)
  })
})

describe('the ledger', () => {
  const claim = { life: 1, lease: 2e12, alone: false, maxAttempts: 8, backoff: { firstSeconds: 5, capSeconds: 300 } }

  it.each(NONSENSE)('that answers %s answers all who asked: unavailable, or in its place', async (_, answer) => {
    const ledger = createLedger({ client: clientOf(answer), tableName: 'ledger', clock: testClock() })
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, n) => ledger.claim({ id: `e${n}`, name: 'shop/note', ...claim })),
    )
    // A statement that was applied is answered with nothing: three answers of a list are for three in each request.
    const claimed = outcomes.filter(({ status }) => status === 'claimed').length
    expect(claimed).toBeLessThan(30)
    expect(outcomes.filter(({ status }) => status === 'unavailable')).toHaveLength(30 - claimed)
    expect(textOf(outcomes)).not.toContain(SECRET)
  })

  it('reads the answers by their places: one that is missing, or of a row that cannot be read, is its own affair', async () => {
    const refused = (Item: unknown) => ({ Error: { Code: 'DuplicateItem', Item } })
    const row = { pk: { S: 'e3' }, sk: { S: 'a/b' }, status: { S: 'done' }, token: { S: 't' }, lease: { N: '1' } }
    const numbers = { attempts: { N: '0' }, due: { N: '0' }, life: { N: '1' }, expires: { N: '9999999999' } }
    const Responses = [
      {},
      refused({ pk: null, sk: { S: 5 }, status: { L: [] } }),
      refused({ ...row, ...numbers, lease: { N: 'soon' } }),
      refused({ ...row, ...numbers, failure: null }),
      { Error: { Code: 'ThrottlingError' } },
      { Error: {} },
    ]
    const store = createDynamoStore({
      client: clientOf(() => ({ Responses })),
      tableName: 'ledger',
      clock: testClock(),
    })
    const entry = { status: 'running', token: 't', lease: 1, attempts: 0, due: 0, life: 1, expires: 1 } as const
    const answers = await Promise.all(
      Array.from({ length: 7 }, (_, n) =>
        store.write({ kind: 'insert', entry: { id: `e${n}`, name: 'a/b', ...entry } }),
      ),
    )
    expect(answers).toMatchObject([
      { status: 'applied' },
      { status: 'failed', reason: 'UnreadableRow' },
      { status: 'failed', reason: 'UnreadableRow' },
      { status: 'refused', entry: { status: 'done', token: 't' } },
      { status: 'failed', retryable: true },
      { status: 'failed' },
      { status: 'failed', reason: 'NoAnswer' },
    ])
  })
})

describe('the outbox table, to relay and sweeper', () => {
  const to = { name: 'q', maxEntries: 10, maxBytes: 1e6, sizeOf: () => 1, publish: async () => [] }
  const options = (answer: () => unknown) => ({
    client: clientOf(answer),
    tableName: 'outbox',
    region: REGION,
    routes: [
      { to: { ...to, publish: async (all: readonly unknown[]) => all.map(() => ({ status: 'accepted' as const })) } },
    ],
    clock: testClock(),
    logger: silent,
  })
  const Records = [unorderedRow('k'), orderedRow('g', 1), unorderedRow('old', { created: 1 })].map((image, n) =>
    streamRecord({ newImage: image as never, sequence: n + 1, createdAt: testClock().now() }),
  )

  it.each(NONSENSE)('that answers %s ends the run, and reports no record that is not there', async (_, answer) => {
    const { batchItemFailures } = await createRelay(options(answer))({ Records } as never)
    const numbers = Records.map(({ dynamodb }) => dynamodb.SequenceNumber)
    for (const { itemIdentifier } of batchItemFailures) expect(numbers).toContain(itemIdentifier)
    const report = await createSweeper(options(answer))().catch((error: unknown) => error)
    if (report instanceof Error) expect(report).toMatchObject({ code: 'UNAVAILABLE' })
    expect(String(report)).not.toContain(SECRET)
  })
})

describe('TransactWriteItems', () => {
  const event = { source: 'shop', key: SECRET.slice(0, 7), type: 't', data: { card: SECRET } }
  const outbox = (answer: (command: Sent) => unknown) =>
    createOutbox({ client: clientOf(answer), tableName: 'outbox', region: REGION, clock: testClock() })
  const cancelled = (reasons: unknown, message: unknown = 'x') =>
    Object.assign(new Error('x'), { name: 'TransactionCanceledException', CancellationReasons: reasons, message })
  const failure = (run: Promise<unknown>): Promise<unknown> =>
    run.then(
      () => expect.unreachable('it did not fail'),
      (error: unknown) => error,
    )

  it.each(THROWN)(
    'that throws %s is never called a failure that wrote nothing',
    proves('commit-reported-as-error'),
    async (_, make) => {
      const send = async () => {
        throw make()
      }
      for (const reading of [() => ({}), throws(make)]) {
        const error = await failure(outbox(reading).transact({ events: [event], send }))
        expect(isOutboxError(error, 'OUTCOME_UNKNOWN')).toBe(true)
        expect(String(error)).not.toContain(SECRET)
      }
    },
  )

  it.each<[title: string, error: unknown, code: string]>([
    ['no reasons', cancelled(undefined), 'TRANSACTION_BUSY'],
    ['reasons of null', cancelled(null), 'TRANSACTION_BUSY'],
    ['reasons that are no list', cancelled({ length: 1 }), 'TRANSACTION_BUSY'],
    ['too few reasons', cancelled([]), 'TRANSACTION_BUSY'],
    ['too many reasons', cancelled([{ Code: 'None' }, { Code: 'None' }]), 'TRANSACTION_BUSY'],
    ['a reason of null', cancelled([null]), 'TRANSACTION_BUSY'],
    ['a reason that is text', cancelled(['ConditionalCheckFailed']), 'TRANSACTION_BUSY'],
    ['a code that is a number', cancelled([{ Code: 5 }]), 'TRANSACTION_BUSY'],
    ['a code that nobody knows', cancelled([{ Code: 'constructor' }]), 'TRANSACTION_BUSY'],
    ['an item that is text', cancelled([{ Code: 'ConditionalCheckFailed', Item: SECRET }]), 'TRANSACTION_BUSY'],
    [
      'an item of another form',
      cancelled([{ Code: 'ConditionalCheckFailed', Item: { body: { S: 5 } } }]),
      'EVENT_CONFLICT',
    ],
    ['a message that is no text', cancelled(undefined, { reasons: [] }), 'TRANSACTION_BUSY'],
    ['codes in the message alone', cancelled(undefined, 'reasons [ValidationError]'), 'INVALID_TRANSACTION'],
  ])('that is cancelled with %s ends with a code', async (_, error, code) => {
    const given = await failure(
      outbox(() => ({})).transact({ events: [event], send: async () => Promise.reject(error) }),
    )
    expect(given).toMatchObject({ code })
    expect(String(given)).not.toContain(SECRET)
  })

  it.each(NONSENSE)('numbers no event where the group answers %s', async (_, answer) => {
    let sent = 0
    const send = async () => {
      sent += 1
    }
    const auto = { source: 'shop', group: 'g', sequence: 'auto', type: 't', data: 1 } as const
    const run = outbox(answer).transact({ events: [auto], send })
    const result = await run.catch((error: unknown) => error)
    if (sent === 0) expect(result).toMatchObject({ name: 'OutboxError' })
    else expect(result).toMatchObject({ events: [{ sequence: expect.any(Number) }] })
  })
})
