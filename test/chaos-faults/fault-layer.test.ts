import {
  BatchGetItemCommand,
  GetItemCommand,
  PutItemCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb'
import { SendMessageBatchCommand } from '@aws-sdk/client-sqs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createManualClock } from '../../src/testing/index.ts'
import { CALM, type FaultRates } from '../chaos/faults/rates.ts'
import { type LayerWorld, startLayerWorld } from './layer-world.ts'

/** Only moved by hand. */
const clock = createManualClock()
let world: LayerWorld
let keys = 0

beforeAll(async () => {
  world = await startLayerWorld(clock)
})
afterEach(async () => {
  await world.layer.quiet()
})
afterAll(async () => {
  await world.stop()
})

const only = (rates: Partial<FaultRates>): void => world.layer.setRates({ ...CALM, ...rates })

/** A counter that nobody else has; `add` goes through the layer, `value` past it. */
function counter() {
  const { aws, clientsOf } = world
  const Key = { pk: { S: `counter-${++keys}` }, sk: { S: '-' } }
  const { dynamo } = clientsOf('adder-1')
  return {
    add: () =>
      dynamo.send(
        new UpdateItemCommand({
          TableName: aws.outboxTable,
          Key,
          UpdateExpression: 'ADD times :one',
          ExpressionAttributeValues: { ':one': { N: '1' } },
        }),
      ),
    value: async () => {
      const { Item } = await aws.dynamo.send(
        new GetItemCommand({ TableName: aws.outboxTable, Key, ConsistentRead: true }),
      )
      return Number(Item?.['times']?.N ?? 0)
    },
  }
}

const nameOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'answered',
    (error: { name: string }) => error.name,
  )

describe('A request through the layer', () => {
  it('is answered as by the engine while there are no faults', async () => {
    const { add, value } = counter()
    await add()
    expect(await value()).toBe(1)
  })

  it('that is dropped was not applied', async () => {
    only({ dropped: 1 })
    const { add, value } = counter()
    expect(await nameOf(add())).not.toBe('answered')
    expect(await value()).toBe(0)
  })

  it('whose answer is lost was applied', async () => {
    only({ answerLost: 1 })
    const { add, value } = counter()
    expect(await nameOf(add())).not.toBe('answered')
    expect(await value()).toBe(1)
  })

  it('that comes late is applied after its connection broke, once all is quiet at the latest', async () => {
    only({ late: 1 })
    const { add, value } = counter()
    expect(await nameOf(add())).not.toBe('answered')
    expect(await value()).toBe(0)
    await world.layer.quiet()
    expect(await value()).toBe(1)
  })

  it('that is duplicated is applied twice and answered once', async () => {
    only({ duplicated: 1 })
    const { add, value } = counter()
    await add()
    expect(await value()).toBe(2)
  })

  it('that is delayed is applied and answered', async () => {
    only({ delayed: 1 })
    const { add, value } = counter()
    const added = add()
    await expect.poll(clock.sleepers).toBe(1)
    expect(await value()).toBe(0)
    await clock.advance(3000)
    await added
    expect(await value()).toBe(1)
  })

  it('that is throttled is refused under a name that the services use, and not applied', async () => {
    only({ throttled: 1 })
    const { add, value } = counter()
    const names = new Set<string>()
    for (let n = 0; n < 20; n++) names.add(await nameOf(add()))
    expect([...names].sort()).toEqual([
      'ProvisionedThroughputExceededException',
      'RequestLimitExceeded',
      'ThrottlingException',
    ])
    expect(await value()).toBe(0)
    const { sqs } = world.clientsOf('sender-1')
    const Entries = [{ Id: '0', MessageBody: 'x' }]
    expect(await nameOf(sqs.send(new SendMessageBatchCommand({ QueueUrl: 'q', Entries })))).toBe('RequestThrottled')
  })

  it('that meets a server error was applied or not', async () => {
    only({ serverError: 1 })
    const { add, value } = counter()
    for (let n = 0; n < 20; n++) expect(['InternalServerError', 'ServiceUnavailable']).toContain(await nameOf(add()))
    const applied = await value()
    expect(applied).toBeGreaterThan(0)
    expect(applied).toBeLessThan(20)
    expect(world.layer.coverage().faults['serverError, applied']).toBe(applied)
  })

  it('of a role that is denied is refused, and only of that role', async () => {
    const { add, value } = counter()
    world.layer.deny({ role: 'adder', operation: 'UpdateItem', until: clock.now() + 3_600_000 })
    expect(await nameOf(add())).toBe('AccessDeniedException')
    const other = new GetItemCommand({ TableName: world.aws.outboxTable, Key: { pk: { S: 'x' }, sk: { S: '-' } } })
    expect(await nameOf(world.clientsOf('adder-2').dynamo.send(other))).toBe('answered')
    expect(await value()).toBe(0)
    await world.layer.quiet()
    expect(await nameOf(add())).toBe('answered')
  })

  it.each(['broken', 'error'] as const)('to an engine that is down (%s) is not applied', async (manner) => {
    const { add, value } = counter()
    world.layer.outage({ service: 'dynamo', manner, until: clock.now() + 3_600_000 })
    expect(await nameOf(add())).not.toBe('answered')
    expect(await value()).toBe(0)
  })

  it('to an engine that is silent waits until the engine is back, and then breaks', async () => {
    const { add, value } = counter()
    world.layer.outage({ service: 'dynamo', manner: 'silent', until: clock.now() + 2000 })
    const end = nameOf(add())
    await expect.poll(clock.sleepers).toBe(1)
    await clock.advance(2000)
    expect(await end).not.toBe('answered')
    expect(await value()).toBe(0)
  })
})

describe('A request answered in part', () => {
  it('to SQS accounts for entries that are in no list, in the wrong one, or accepted', async () => {
    only({ partial: 1 })
    const queue = await world.aws.createQueue('parts.fifo')
    const { sqs } = world.clientsOf('sender-2')
    const said = { sent: 0, failed: 0, missing: 0 }
    for (let round = 0; round < 12; round++) {
      const Entries = Array.from({ length: 10 }, (_, n) => ({
        Id: String(n),
        MessageBody: 'x',
        MessageGroupId: `g${n}`,
        MessageDeduplicationId: `${round}-${n}`,
      }))
      const { Successful = [], Failed = [] } = await sqs.send(
        new SendMessageBatchCommand({ QueueUrl: queue.url, Entries }),
      )
      said.sent += Successful.length
      said.failed += Failed.length
      said.missing += 10 - Successful.length - Failed.length
    }
    const stored = world.aws.queue('parts.fifo').depth().visible
    expect(said.failed).toBeGreaterThan(0)
    expect(said.missing).toBeGreaterThan(0)
    // Whatever is said to be sent is there; of the rest, some.
    expect(stored).toBeGreaterThan(said.sent)
    expect(stored).toBeLessThan(120)
  })

  it('of DynamoDB names the keys that were not read', async () => {
    only({ partial: 1 })
    const { outboxTable, dynamo } = world.aws
    const Keys = Array.from({ length: 6 }, (_, n) => ({ pk: { S: `part-${n}` }, sk: { S: '-' } }))
    for (const Item of Keys) await dynamo.send(new PutItemCommand({ TableName: outboxTable, Item }))
    const { Responses, UnprocessedKeys } = await world
      .clientsOf('reader-1')
      .dynamo.send(new BatchGetItemCommand({ RequestItems: { [outboxTable]: { Keys } } }))
    const read = Responses?.[outboxTable] ?? []
    const left = UnprocessedKeys?.[outboxTable]?.Keys ?? []
    expect(left.length).toBeGreaterThan(0)
    expect([...read, ...left].map(({ pk }) => pk?.S).sort()).toEqual(Keys.map(({ pk }) => pk.S).sort())
  })

  it('that is a transaction is cancelled with reasons for some of its actions, and not applied', async () => {
    only({ partial: 1 })
    const { outboxTable, dynamo } = world.aws
    const items = Array.from({ length: 4 }, (_, n) => ({ pk: { S: `cancelled-${n}` }, sk: { S: '-' } }))
    const TransactItems = items.map((Item) => ({ Put: { TableName: outboxTable, Item } }))
    const error = await world
      .clientsOf('writer-1')
      .dynamo.send(new TransactWriteItemsCommand({ TransactItems }))
      .catch((caught: unknown) => caught)
    const { name, CancellationReasons } = error as { name: string; CancellationReasons: { Code: string }[] }
    expect(name).toBe('TransactionCanceledException')
    expect(CancellationReasons).toHaveLength(4)
    expect(CancellationReasons.some(({ Code }) => Code !== 'None')).toBe(true)
    const stored = await dynamo.send(
      new GetItemCommand({ TableName: outboxTable, Key: items[0] ?? {}, ConsistentRead: true }),
    )
    expect(stored.Item).toBeUndefined()
  })
})
