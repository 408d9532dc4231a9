import { PutItemCommand } from '@aws-sdk/client-dynamodb'
import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { marshall } from '@aws-sdk/util-dynamodb'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { on } from '../../src/consumer/handler.ts'
import type { NewEvent } from '../../src/event/event.ts'
import { waitFor } from '../../src/testing/wait.ts'
import { proves } from '../cases.ts'
import { type Pipeline, silent, startPipeline } from '../support/pipeline.ts'
import { THROWN } from './hostile-things.ts'

let pipeline: Pipeline
beforeAll(async () => {
  pipeline = await startPipeline({ speed: 20, sources: ['data', 'rows', 'queue'] })
})
afterAll(() => pipeline.aws.stop())

const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`)
const everyUnit = Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).join('')

const DATA: readonly unknown[] = [
  null, true, false, 0, -0, 5e-324, Number.MAX_VALUE, -1.7976931348623157e308, 2 ** 53 + 2, '', ' ', [], {}, [[]], [{}], [null],
  everyUnit,
  '\ud800', '\udfff\ud800', '\ufffe\uffff', '😀👩‍👩‍👧', '\u0000\u0008\u007f\u2028\u2029', '</script>', "'; DROP TABLE outbox; --",
  nested(500),
  JSON.parse('{"__proto__":{"a":1},"constructor":{"prototype":1}}'),
  { specversion: '0.3', 'detail-type': 'x', detail: {}, id: 1, data: 2 },
  Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`${n}\ud83d`, n])),
  { S: 'text', N: '5', M: {}, NULL: true },
] // biome-ignore format: a table

it('JSON of all shapes goes through table, stream, queue and handler, and comes out as it was', {
  ...proves('odd-characters', 'json-semantics', 'empty-payload'),
  timeout: 60_000,
}, async () => {
  const { aws, queue, write, deadLetters } = pipeline
  const seen = new Map<string, unknown>()
  const take = on('odd', 'take', ({ key, data }) => void seen.set(key, data))
  const consumer = aws.startConsumer({ queue: queue('data'), name: 'data', logger: silent, handlers: [take] })
  const events = DATA.map((data, n): NewEvent => ({ source: 'data', type: 'odd', key: `d${n}`, data }))
  for (const event of events) await write(event)
  await waitFor(() => seen.size === DATA.length, {
    timeoutMs: 30_000,
    describe: () => `${DATA.length - seen.size} events`,
  })
  for (const [n, data] of DATA.entries()) expect(JSON.stringify(seen.get(`d${n}`))).toBe(JSON.stringify(data))
  await aws.idle()
  await consumer.stop()
  expect(deadLetters('data')).toBe(0)
})

it('rows and messages of anybody’s making are set aside one by one, and no event is held up by them', {
  ...proves('undecodable-row', 'poison-record'),
  timeout: 60_000,
}, async () => {
  const { aws, queue, write, deadLetters } = pipeline
  const seen: number[] = []
  const take = on('fine', 'take', ({ sequence = 0 }) => void seen.push(sequence))
  const consumer = aws.startConsumer({ queue: queue('rows'), name: 'rows', logger: silent, handlers: [take] })
  const put = (item: Record<string, unknown>) =>
    aws.dynamo.send(new PutItemCommand({ TableName: aws.outboxTable, Item: marshall(item) }))
  const base = { region: 'us-east-1', shard: 'p#07', v: 1, due: aws.clock.now(), body: '{}' }
  const ROWS = [
    { pk: 'K#rows/no-body', sk: '-', ...base, body: new Uint8Array(100) },
    { pk: 'K#rows/number', sk: '-', ...base, body: 5 },
    { pk: 'K#rows/an odd name', sk: '-', ...base },
    { pk: 'nonsense', sk: '😀', ...base, body: { a: [1, new Set(['x'])] } },
    { pk: 'K#rows/accepted', sk: '-', ...base, accepted: new Set([1, 2]) },
    { pk: 'K#rows/redrives', sk: '-', ...base, redrives: -1 },
    { pk: 'K#rows/huge', sk: '-', ...base, body: new Uint8Array(300_000) },
    // Junk under the group's own key, above, below and between its numbers.
    ...['9', '0', '5abc', '00', '~'].map((sk) => ({ pk: 'G#rows/g', sk, note: 'not ours' })),
  ]
  const MESSAGES = [
    'x',
    '[]',
    '1e999',
    '{"specversion":"1.0"}',
    '['.repeat(50_000),
    JSON.stringify({ detail: 1, 'detail-type': 'x' }),
  ]
  const ordered = { source: 'rows', group: 'g', sequence: 'auto', type: 'fine', data: 1 } as const
  for (let n = 0; n < ROWS.length; n++) {
    await put(ROWS[n] ?? {})
    await write(ordered)
    const MessageBody = MESSAGES[n % MESSAGES.length]
    const ids = { MessageGroupId: 'rows/g', MessageDeduplicationId: `odd-${n}` }
    await aws.sqs.send(new SendMessageCommand({ QueueUrl: queue('rows').url, MessageBody, ...ids }))
  }
  await waitFor(() => seen.length === ROWS.length, {
    timeoutMs: 30_000,
    describe: () => `${ROWS.length - seen.length} events`,
  })
  await waitFor(() => deadLetters('rows') === ROWS.length)
  await aws.idle({ timeoutMs: 30_000 })
  await consumer.stop()
  expect(seen).toEqual(seen.toSorted((one, other) => one - other))
  const states = await Promise.all(ROWS.slice(0, 7).map(({ pk, sk }) => stateOf(pk, sk)))
  expect(states).toEqual(Array(7).fill('dead'))
})

it('handlers that throw anything at all lose no event of anybody', { timeout: 60_000 }, async () => {
  const { aws, queue, write, deadLetters } = pipeline
  const seen = new Set<number>()
  const handlers = [
    on('odd', 'throw', ({ data }) => {
      throw THROWN[data as number]?.[1]()
    }, { maxAttempts: 1 }),
    on('fine', 'take', ({ data }) => void seen.add(data as number)),
  ] // biome-ignore format: a table
  const consumer = aws.startConsumer({ queue: queue('queue'), name: 'queue', logger: silent, handlers })
  for (const n of THROWN.keys()) {
    const event = (type: string): NewEvent => ({ source: 'queue', type, group: `g${n % 3}`, sequence: 'auto', data: n })
    await write(event('odd'), event('fine'))
  }
  await waitFor(() => seen.size === THROWN.length, {
    timeoutMs: 30_000,
    describe: () => `${seen.size} of ${THROWN.length}`,
  })
  await waitFor(() => deadLetters('queue') === THROWN.length)
  await aws.idle()
  await consumer.stop()
})

async function stateOf(pk: string, sk: string): Promise<string> {
  const { GetItemCommand } = await import('@aws-sdk/client-dynamodb')
  const { aws } = pipeline
  const Key = { pk: { S: pk }, sk: { S: sk } }
  const { Item } = await aws.dynamo.send(new GetItemCommand({ TableName: aws.outboxTable, Key, ConsistentRead: true }))
  const shard = Item?.['shard']?.S ?? 'none'
  return shard.startsWith('d#') ? 'dead' : shard
}
