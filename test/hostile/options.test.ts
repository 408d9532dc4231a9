import { describe, expect, it } from 'vitest'
import * as consumer from '../../src/consumer/index.ts'
import { isOutboxError } from '../../src/errors.ts'
import * as main from '../../src/index.ts'
import { createEventBridgePublisher } from '../../src/relay/event-bridge-publisher.ts'
import * as relay from '../../src/relay/index.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import { testClock } from '../support/clock.ts'
import { REGION } from '../support/outbox-rows.ts'
import { SECRET } from './hostile-things.ts'

const client = { send: async () => ({}), config: { region: async () => REGION } }
const NASTIES: readonly unknown[] = [
  undefined,
  null,
  0,
  1n,
  Number.NaN,
  '',
  SECRET,
  Symbol('x'),
  () => {},
  [],
  [null],
  {},
  Object.create(null),
  { [SECRET.slice(0, 3)]: 1 },
  new Map([['client', client]]),
  { client },
  { client, tableName: 5 },
  { client, tableName: 'outbox', clock: null },
  { documentClient: client, tableName: '' },
  { client, queueUrl: {} },
  { client, queueUrl: 'https://sqs/1/q', name: null },
  { client, queueUrl: 'https://sqs/1/q', name: { length: 5 } },
  { client, busName: ['bus'] },
  { client, busName: 'bus', name: 5 },
  { client, tableName: 'outbox', routes: [null] },
  { client, tableName: 'outbox', routes: [{ to: { publish: () => {}, sizeOf: () => 1 } }] },
  { client, tableName: 'outbox', routes: [{ to: { publish: () => {}, sizeOf: () => 1, name: 'q' }, source: null }] },
  { client, tableName: 'outbox', routes: [{ to: { publish: () => {}, sizeOf: () => 1, name: 'q' }, type: [1] }] },
  { name: 'c', ledger: {}, queue: {}, handlers: [{}] },
  { type: 't', schema: { '~standard': null } },
  { type: 't', schema: null },
  JSON.parse('{"__proto__":{"client":1}}'),
]

const FACTORIES: Readonly<Record<string, (...given: never[]) => unknown>> = {
  createOutbox: main.createOutbox,
  createCommitter: main.createCommitter,
  defineEvent: main.defineEvent,
  createRelay: relay.createRelay,
  createSweeper: relay.createSweeper,
  createSqsPublisher: relay.createSqsPublisher,
  createEventBridgePublisher,
  createConsumer: consumer.createConsumer,
  createLedger: consumer.createLedger,
  createSqsQueue: consumer.createSqsQueue,
}

/** What was thrown; undefined if nothing was. */
async function thrownBy(run: () => unknown): Promise<unknown> {
  try {
    await run()
    return undefined
  } catch (error) {
    return error
  }
}

async function isRefusedInWords(run: () => unknown): Promise<void> {
  const error = await thrownBy(run)
  if (error === undefined) return
  expect(isOutboxError(error), String(error)).toBe(true)
  expect(String(error)).not.toContain(SECRET)
}

describe.each(Object.entries(FACTORIES))('%s', (_, factory) => {
  it('takes options or refuses them with a code, whatever they are', async () => {
    for (const nasty of NASTIES) await isRefusedInWords(() => factory(nasty as never))
    await isRefusedInWords(() => factory())
  })
})

describe('on', () => {
  it('takes its arguments or refuses them with a code, whatever they are', async () => {
    const on = consumer.on as (...given: unknown[]) => unknown
    for (const nasty of NASTIES) {
      await isRefusedInWords(() => on(nasty, 'a', () => {}))
      await isRefusedInWords(() => on('t', nasty, () => {}))
      await isRefusedInWords(() => on('t', 'a', nasty))
      await isRefusedInWords(() => on('t', 'a', () => {}, nasty))
      await isRefusedInWords(() => on('t', 'a', () => {}, { maxAttempts: nasty, backoff: nasty }))
    }
  })
})

describe('transact and collect', () => {
  const outbox = main.createOutbox({ client: client as never, tableName: 'outbox', clock: testClock() })
  const event = { source: 's', key: 'k', type: 't', data: 1 }

  it('take what they are given or refuse it with a code, whatever it is', async () => {
    const transact = outbox.transact as (given?: unknown) => Promise<unknown>
    const collect = outbox.collect as (...given: unknown[]) => Promise<unknown>
    await isRefusedInWords(() => transact())
    await isRefusedInWords(() => collect())
    for (const nasty of NASTIES) {
      await isRefusedInWords(() => transact(nasty))
      await isRefusedInWords(() => collect(nasty))
      await isRefusedInWords(() => collect(() => {}, nasty))
      for (const name of ['writes', 'events', 'onExisting', 'token', 'send'])
        await isRefusedInWords(() => transact({ events: [event], [name]: nasty }))
      for (const name of ['source', 'key', 'type', 'headers', 'time', 'group', 'sequence'])
        await isRefusedInWords(() => transact({ events: [{ ...event, [name]: nasty }] }))
      for (const action of ['Put', 'Update', 'Delete', 'ConditionCheck', 'constructor'])
        await isRefusedInWords(() => transact({ writes: [{ [action]: nasty }] }))
    }
  })

  it('refuse AttributeValues that are none, at any depth', async () => {
    let deep: unknown = { S: 'x' }
    for (let n = 0; n < 50_000; n++) deep = { L: [deep] }
    const cycle: { L: unknown[] } = { L: [] }
    cycle.L.push(cycle)
    const odd = [
      { L: [null] },
      { M: { a: null } },
      { SS: [1] },
      { BS: ['x'] },
      { NS: [1n] },
      { M: { a: { S: 5 } } },
      deep,
      cycle,
    ]
    const names = ['hasOwnProperty', 'propertyIsEnumerable', '__defineGetter__'].map((name) => ({ [name]: 'S' }))
    for (const value of [...odd, ...names]) {
      const writes = [{ Put: { TableName: 't', Item: { pk: { S: 'a' }, value } } }]
      await expect(outbox.transact({ writes: writes as never })).rejects.toMatchObject({ code: 'INVALID_TRANSACTION' })
    }
  })

  it('refuse headers that have no members of their own, and would be lost', async () => {
    for (const headers of [new Map([['a', 'b']]), new Headers({ a: 'b' }), new Set(['a']), [['a', 'b']]])
      await expect(outbox.transact({ events: [{ ...event, headers: headers as never }] })).rejects.toMatchObject({
        code: 'INVALID_EVENT',
      })
  })

  it.each([
    ['throws', () => { throw new Error(SECRET) }], // biome-ignore format: one line
    ['gives a number', () => 5],
    ['gives a promise', async () => SECRET],
    ['is no function', 5],
  ])('write without a trace where tracing %s', async (_, traceparent) => {
    const traced = main.createOutbox({
      client: client as never,
      tableName: 'outbox',
      traceparent: traceparent as never,
      clock: testClock(),
    })
    expect(await traced.transact({ events: [event] })).toMatchObject({ events: [{ inserted: true }] })
  })

  it.each([
    ['rejects', async () => Promise.reject(new Error(SECRET))],
    ['throws', () => { throw new Error(SECRET) }], // biome-ignore format: one line
    ['is empty', async () => ''],
  ])('say what is missing where the Region of the client %s', async (_, region) => {
    const nowhere = { ...client, config: { region } } as never
    const run = main.createOutbox({ client: nowhere, tableName: 'outbox' }).transact({ events: [event] })
    await expect(run).rejects.toMatchObject({ code: 'INVALID_SETTING', details: { path: 'region' } })
  })
})

describe('a local AWS', () => {
  it('refuses to start what it is not told about, and says what it waited for in vain, with a code', async () => {
    await using aws = await startLocalAws({ speed: 10 })
    const loosely = (start: (given: never) => unknown, given?: unknown) => isRefusedInWords(() => start(given as never))
    for (const nasty of [undefined, {}, { queue: null }]) {
      expect(isOutboxError(await thrownBy(() => aws.startRelay(nasty as never)), 'INVALID_SETTING')).toBe(true)
      expect(isOutboxError(await thrownBy(() => aws.startSweeper(nasty as never)), 'INVALID_SETTING')).toBe(true)
      await loosely(aws.startConsumer, nasty)
    }
    const queue = await aws.createQueue('orders')
    aws.connectQueue({ queue, handler: () => new Promise(() => {}) })
    await aws.sqs.send(new (await import('@aws-sdk/client-sqs')).SendMessageCommand({ QueueUrl: queue.url, MessageBody: 'x', MessageGroupId: 'g', MessageDeduplicationId: 'd' })) // biome-ignore format: one line
    const error = await thrownBy(() => aws.idle({ timeoutMs: 200 }))
    expect(error).toMatchObject({ code: 'TIMED_OUT', message: expect.stringContaining('Still waiting after 200 ms') })
  })
})
