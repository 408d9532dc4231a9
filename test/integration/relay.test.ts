import { type AttributeValue, BatchWriteItemCommand, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb'
import { ReceiveMessageCommand } from '@aws-sdk/client-sqs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/clock.ts'
import { createTables } from '../../src/outbox/dynamo-create-tables.ts'
import { createRelay } from '../../src/relay/relay.ts'
import type { RowImage } from '../../src/relay/row-image.ts'
import { createSqsPublisher } from '../../src/relay/sqs-publisher.ts'
import { createSweeper } from '../../src/relay/sweeper.ts'
import type { MetricKey } from '../../src/telemetry.ts'
import { startLocalAws } from '../../src/testing/local-aws.ts'
import type { LocalAws } from '../../src/testing/local-aws-options.ts'
import { proves } from '../cases.ts'
import { measureCapacity } from '../support/capacity.ts'
import { createFakeQueue } from '../support/fake-queue.ts'
import { keyOfRow, orderedRow, relayedRow, stateOf, unorderedRow } from '../support/outbox-rows.ts'
import { records } from '../support/relay-world.ts'

let aws: LocalAws
beforeAll(async () => {
  aws = await startLocalAws()
})
afterAll(() => aws.stop())

const silent = { info: () => {}, warn: () => {}, error: () => {} }
const HOUR = 3_600_000
let tables = 0

async function setUp() {
  const tableName = `relay-${++tables}-${process.pid}`
  await createTables({ client: aws.dynamo, outboxTable: tableName })
  const { url } = await aws.createQueue(`relay-${tables}`)
  const region = await aws.dynamo.config.region()
  const counts = new Map<MetricKey, number>()
  const options = {
    client: aws.dynamo,
    tableName,
    logger: silent,
    telemetry: { count: (metric: MetricKey, value = 1) => void counts.set(metric, (counts.get(metric) ?? 0) + value) },
    routes: [{ to: createSqsPublisher({ client: aws.sqs, queueUrl: url }) }],
  }
  const put = (image: RowImage) => aws.dynamo.send(new PutItemCommand({ TableName: tableName, Item: itemOf(image) }))
  const stateIn = async (image: RowImage) => {
    const { pk, sk } = keyOfRow(image)
    const command = new GetItemCommand({
      TableName: tableName,
      Key: { pk: { S: pk }, sk: { S: sk } },
      ConsistentRead: true,
    })
    return stateOf((await aws.dynamo.send(command)).Item)
  }
  const receive = async () =>
    (
      await aws.sqs.send(
        new ReceiveMessageCommand({ QueueUrl: url, MaxNumberOfMessages: 10, MessageSystemAttributeNames: ['All'] }),
      )
    ).Messages ?? []
  return { options, counts, put, stateIn, receive, region, tableName }
}

function itemOf(image: RowImage): Record<string, AttributeValue> {
  return image as Record<string, AttributeValue>
}

describe('relay and sweeper on the engines', () => {
  it(
    'relay what the stream hints at, with group and deduplication id, and mark it',
    proves('ids-on-every-path'),
    async () => {
      const { options, counts, put, stateIn, receive, region } = await setUp()
      const created = Date.now()
      const rows = [
        unorderedRow('a', { region, created }),
        ...[1, 2, 3].map((n) => orderedRow('g', n, { region, created })),
      ]
      for (const row of rows) await put(row)
      const relay = createRelay(options)
      const given = records(rows).map((record) => ({
        ...record,
        dynamodb: { ...record.dynamodb, ApproximateCreationDateTime: created / 1000 },
      }))
      expect(await relay({ Records: given }, { getRemainingTimeInMillis: () => 30_000 })).toEqual({
        batchItemFailures: [],
      })
      expect(await Promise.all(rows.map(stateIn))).toEqual(Array(4).fill('relayed'))
      expect(counts.get('relayed')).toBe(4)
      const ids = (await receive()).map(({ Attributes }) => [
        Attributes?.MessageGroupId,
        Attributes?.MessageDeduplicationId,
      ])
      expect(ids.map(([group]) => group)).toContain('shop/g')
      expect(ids.every(([, id]) => /^[0-9a-f]{64}$/.test(id ?? ''))).toBe(true)
      expect(await relay({ Records: given })).toEqual({ batchItemFailures: [] })
      expect(counts.get('relayed')).toBe(4)
    },
  )

  it('sweep what the stream path left, rows below a tail first, and dead-letter what is refused', async () => {
    const { options, put, stateIn, region } = await setUp()
    const created = Date.now() - HOUR
    const tail = [41, 42, 43].map((n) => orderedRow('g', n, { region, created }))
    const redriven = orderedRow('g', 7, { region, created, redrives: 1 })
    const bad = orderedRow('h', 1, { region, created, body: '"\uFFFE"' })
    const after = orderedRow('h', 2, { region, created })
    const foreign = unorderedRow('f', { region, created, extra: { v: undefined, type: undefined } })
    const all = [...tail, redriven, bad, after, foreign]
    for (const row of [...all, relayedRow(orderedRow('g', 6, { region })), relayedRow(orderedRow('g', 8, { region }))])
      await put(row)
    expect(await createSweeper(options)()).toMatchObject({ pending: 7, relayed: 6, dead: 1, deadTotal: 1, paused: [] })
    expect(await stateIn(bad)).toBe('dead')
    expect(await Promise.all([...tail, redriven, after, foreign].map(stateIn))).toEqual(Array(6).fill('relayed'))
    expect(await createSweeper(options)()).toMatchObject({ pending: 0, oldestPendingMs: 0, relayed: 0 })
  })

  it('pay for what is pending, never for what was ever written', proves('sweep-reads-pending-only'), async () => {
    const { options, put, region, tableName } = await setUp()
    const capacity = measureCapacity(aws.dynamo)
    await fill(tableName, 2_000)
    const created = Date.now() - HOUR
    const sweeper = createSweeper(options)
    capacity.reset()
    await sweeper()
    // Idle, dead rows counted: 64 and 8 Queries at half a unit, and the heartbeat.
    expect(capacity.reads()).toBeLessThanOrEqual(37)
    const data = 'x'.repeat(800)
    for (let n = 0; n < 10; n += 1)
      await put(unorderedRow(`p${n}`, { region, created, body: JSON.stringify({ data }) }))
    capacity.reset()
    expect(await sweeper()).toMatchObject({ pending: 10, relayed: 10 })
    expect(capacity.reads()).toBeLessThanOrEqual(45)
    expect(capacity.units()['QueryCommand']).toBe(32)
    expect(capacity.units()['BatchGetItemCommand']).toBe(5)
  })

  it(
    'leave everything as it was while SQS is down, and deliver it afterwards',
    proves('sqs-down-for-an-hour'),
    async () => {
      const { options, put, stateIn, region } = await setUp()
      const row = unorderedRow('a', { region, created: Date.now() - HOUR })
      await put(row)
      aws.setSqsOutage(true)
      const sweeper = createSweeper(options)
      expect(await sweeper(undefined, { getRemainingTimeInMillis: () => 6_000 })).toMatchObject({ relayed: 0, dead: 0 })
      expect(await stateIn(row)).toBe('pending')
      aws.setSqsOutage(false)
      expect(await sweeper()).toMatchObject({ relayed: 1 })
    },
  )

  it('can be run twice at once', proves('many-relays-at-once'), async () => {
    const { options, put, stateIn, region } = await setUp()
    const queue = createFakeQueue('q', systemClock)
    const created = Date.now() - HOUR
    const rows = Array.from({ length: 120 }, (_, n) =>
      n % 2 === 0 ? orderedRow('g', n / 2 + 1, { region, created }) : unorderedRow(`k${n}`, { region, created }),
    )
    await Promise.all(rows.map(put))
    const racing = { ...options, routes: [{ to: queue }] }
    await Promise.all([
      createSweeper(racing)(),
      createSweeper(racing)(),
      createRelay(racing)({ Records: records(rows) }),
    ])
    expect(new Set(await Promise.all(rows.map(stateIn)))).toEqual(new Set(['relayed']))
    expect(queue.delivered).toHaveLength(120)
    const ordered = queue.delivered.filter(({ groupId }) => groupId === 'shop/g').map(({ body }) => JSON.parse(body).of)
    expect(ordered).toEqual([...ordered].sort())
  })
})

/** Relayed rows, a few of them in groups. */
async function fill(tableName: string, count: number): Promise<void> {
  const images = Array.from({ length: count }, (_, n) =>
    relayedRow(n % 10 === 0 ? orderedRow(`g${n % 50}`, n) : unorderedRow(`r${n}`)),
  )
  const requests = Array.from({ length: Math.ceil(count / 25) }, (_, n) => images.slice(n * 25, n * 25 + 25))
  const writer = async () => {
    for (let page = requests.pop(); page !== undefined; page = requests.pop()) {
      await aws.dynamo.send(
        new BatchWriteItemCommand({
          RequestItems: { [tableName]: page.map((image) => ({ PutRequest: { Item: itemOf(image) } })) },
        }),
      )
    }
  }
  await Promise.all(Array.from({ length: 4 }, writer))
}
