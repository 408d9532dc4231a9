import type { Context, SQSEvent, SQSHandler } from 'aws-lambda'
import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { type Consumer, createConsumer } from '../../src/consumer/consumer.ts'
import { on } from '../../src/consumer/handler.ts'
import { createSqsQueue, queueUrlOf } from '../../src/consumer/sqs-queue.ts'
import { defineEvent } from '../../src/event/define-event.ts'
import { createFakeSqs } from '../../src/testing/fake-sqs.ts'
import { createConsumerKit, FUNCTION_MS } from '../support/consumer-kit.ts'

const OrderPlaced = defineEvent({
  type: 'order.placed',
  schema: v.object({ n: v.pipe(v.number(), v.transform(String)) }),
})
const setting = (path: RegExp) =>
  expect.objectContaining({ code: 'INVALID_SETTING', message: expect.stringMatching(path) })

describe('on', () => {
  it("hands the schema's output to the handler, and types it", async () => {
    const seen: unknown[] = []
    const handler = on(OrderPlaced, 'reserve', ({ data, type }) => {
      expectTypeOf(data).toEqualTypeOf<{ n: string }>()
      expectTypeOf(type).toEqualTypeOf<'order.placed'>()
      seen.push(data)
    })
    const kit = createConsumerKit({ handlers: [handler] })
    await kit.send({ n: 1 })
    await kit.invoke()
    expect(seen).toEqual([{ n: '1' }])
  })

  it('leaves data unknown where only a type is named', () => {
    on('order.placed', 'reserve', ({ data }) => {
      expectTypeOf(data).toBeUnknown()
    })
  })

  it('refuses names, options and ranges that are not allowed', () => {
    const handle = () => {}
    expect(() => on('t', '-', handle)).toThrow(setting(/handler name/))
    expect(() => on('t', 'a b', handle)).toThrow(setting(/handler name/))
    expect(() => on('t', 'x'.repeat(65), handle)).toThrow(setting(/handler name/))
    expect(() => on('t', 'h', handle, { maxAttempts: 101 })).toThrow(setting(/maxAttempts .* 1 to 100/))
    expect(() => on('t', 'h', handle, { backoff: { firstSeconds: -1 } })).toThrow(setting(/backoff.firstSeconds/))
    expect(() => on('t', 'h', handle, { retries: 3 } as never)).toThrow(setting(/"retries" is not an option/))
    expect(() => on('t', 'h', handle, { backoff: { max: 3 } as never })).toThrow(setting(/"max" is not an option/))
  })
})

describe('createConsumer', () => {
  const { options } = createConsumerKit({ handlers: [on('t', 'h', () => {})] })
  const create = (changes: object) => () => createConsumer({ ...options, ...changes })

  it('refuses settings that would go wrong later', () => {
    expect(create({ name: 'my shop' })).toThrow(setting(/name/))
    expect(create({ handlers: [] })).toThrow(setting(/handlers/))
    expect(create({ handlers: [...options.handlers, ...options.handlers] })).toThrow(
      setting(/handlers\[1\] has the name and the type of an earlier one; rename it/),
    )
    expect(create({ leaseSeconds: 3601 })).toThrow(setting(/leaseSeconds .* 1 to 3600/))
    expect(create({ outbox: { ...options.ledger.committer, kind: 'client' } })).toThrow(
      setting(/outbox must use the kind of client that the ledger has: got client and documentClient/),
    )
    expect(create({ batchSize: 10 })).toThrow(setting(/"batchSize" is not an option/))
    expect(create({ handlers: [on('t', 'h', () => {}), on('u', 'h', () => {})] })).not.toThrow()
  })

  it('takes a longer fixed lease', async () => {
    const kit = createConsumerKit({
      handlers: [on('order.placed', 'h', () => new Promise(() => {}))],
      consumer: { leaseSeconds: 120 },
    })
    await kit.send({ n: 1 })
    void kit.invoke()
    while (kit.store.rows.size === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(kit.row({ n: 1 }, 'h')?.lease).toBe(kit.clock.now() + 120_000)
    expect(kit.comesBackAt()).toBe(kit.clock.now() + 122_000)
    expect(FUNCTION_MS).toBeLessThan(120_000)
  })

  it("fits the types of Lambda's own package", () => {
    expectTypeOf<SQSEvent>().toExtend<Parameters<Consumer>[0]>()
    expectTypeOf<Context>().toExtend<Parameters<Consumer>[1]>()
    expectTypeOf<Consumer>().toExtend<SQSHandler>()
  })

  it('answers an empty batch', async () => {
    const answer = await createConsumer(options)({ Records: [] }, { getRemainingTimeInMillis: () => 1000 })
    expect(answer).toEqual({ batchItemFailures: [] })
  })
})

describe('createSqsQueue', () => {
  it('refuses options it does not know, and what is no URL', () => {
    const { client, deadLetterUrl: deadLetterQueueUrl } = createFakeSqs()
    expect(() => createSqsQueue({ client, deadLetterQueueUrl: 'dead.fifo' })).toThrow(setting(/deadLetterQueueUrl/))
    expect(() => createSqsQueue({ client, deadLetterQueueUrl, url: '' } as never)).toThrow(
      setting(/"url" is not an option/),
    )
  })

  it("makes a queue's URL from its ARN", () => {
    expect(queueUrlOf('arn:aws:sqs:eu-west-1:123456789012:orders.fifo')).toBe(
      'https://sqs.eu-west-1.amazonaws.com/123456789012/orders.fifo',
    )
    expect(queueUrlOf('arn:aws-cn:sqs:cn-north-1:1:q')).toBe('https://sqs.cn-north-1.amazonaws.com.cn/1/q')
    expect(queueUrlOf('arn:aws:sns:eu-west-1:1:q')).toBeUndefined()
    expect(queueUrlOf('')).toBeUndefined()
  })
})
