import { ChangeMessageVisibilityBatchCommand, type Message } from '@aws-sdk/client-sqs'
import { describe, expect, it } from 'vitest'
import { eventId, sha256 } from '../../src/event/identity.ts'
import type { LifeNote } from '../../src/event/life.ts'
import type { DeadLetter } from '../../src/ops/dead-letter.ts'
import { redriveMessage, redriveMessages } from '../../src/ops/redrive-messages.ts'
import { createFakeSqs, type FakeSqsOptions } from '../../src/testing/fake-sqs.ts'
import type { LocalQueue } from '../../src/testing/local-queue.ts'
import { queueArn } from '../../src/testing/records.ts'
import { fault } from '../../src/testing/sqs-rules.ts'
import { proves } from '../cases.ts'
import { testClock } from '../support/clock.ts'
import { bodyOf, identityOf, type TestEvent } from '../support/consumer-kit.ts'
import { sendLetter } from '../support/dead-letters.ts'
import { addFaults, networkError } from '../support/faults.ts'

/** What a letter of an event says of the event and of itself. */
const seenAs = (event: TestEvent) => ({
  id: eventId(identityOf(event)),
  type: JSON.parse(bodyOf(event)).type,
  since: expect.any(Number),
})
const all = () => true
const noteOf = (handler: string, life = 2000): LifeNote => ({ life, handlers: [handler], attempts: 8, reason: 'no' })

/** A strict queue and its dead-letter queue in memory, whose clock moves on by itself while somebody waits. */
function open(options: FakeSqsOptions = {}) {
  const clock = testClock()
  const sqs = createFakeSqs({ clock, ...options })
  const queue = { client: sqs.client, queueUrl: sqs.queueUrl, deadLetterQueueUrl: sqs.deadLetterUrl }
  const faults = addFaults(sqs.client)
  return {
    sqs,
    clock,
    faults,
    queue,
    /** A copy as the consumer makes it. */
    die: (event: TestEvent, note = noteOf('shop/reserve')) =>
      sendLetter(sqs.client, sqs.deadLetterUrl, {
        body: bodyOf(event),
        group: event.group ?? eventId(identityOf(event)),
        deduplicationId: copyId(event, note),
        note,
      }),
    /** Free messages of a queue, deleted by being read. */
    drain: (of: LocalQueue) => {
      const found: ReturnType<LocalQueue['receive']> = []
      for (let page = of.receive(10); page.length > 0; page = of.receive(10)) {
        for (const { handle = '' } of page) of.delete(handle)
        found.push(...page)
      }
      return found
    },
  }
}

const copyId = (event: TestEvent, note: LifeNote) =>
  sha256(`${eventId(identityOf(event))} ${note.handlers[0]} ${note.life - 1}`)
const numbers = (messages: readonly { readonly body: string }[]) => messages.map(({ body }) => JSON.parse(body).data.n)
const sends = (requests: readonly { action: string; entries: number }[]) =>
  requests.flatMap(({ action, entries }) => (action === 'SendMessageBatch' ? [entries] : []))

describe('redriveMessage', () => {
  it(
    "moves one event's letter of one handler as it is; all others stay, and are visible at once",
    proves('ids-on-every-path', 'redrive-within-dedup'),
    async () => {
      const { queue, sqs, die, drain } = open()
      const event = { group: 'g', n: 2 }
      await die({ group: 'g', n: 1 })
      await die(event, noteOf('shop/mail'))
      await die(event, noteOf('shop/reserve'))
      await die({ n: 4 })
      const id = eventId(identityOf(event))
      expect(await redriveMessage(queue, { id, handler: 'shop/reserve' })).toEqual({ redriven: 1, failed: 0, left: 3 })
      expect(sqs.deadLetters.depth()).toEqual({ visible: 3, invisible: 0, delayed: 0 })
      expect(drain(sqs.queue)).toMatchObject([
        {
          body: bodyOf(event),
          groupId: 'g',
          deduplicationId: copyId(event, noteOf('shop/reserve')),
          attributes: {
            tenant: { StringValue: 'blue' },
            outbox: { StringValue: JSON.stringify(noteOf('shop/reserve')) },
          },
        },
      ])
      expect(numbers(drain(sqs.deadLetters))).toEqual([1, 2, 4])
    },
  )

  it('moves the letters of all handlers where none is named', async () => {
    const { queue, die } = open()
    await die({ n: 1 }, noteOf('shop/mail'))
    await die({ n: 1 }, noteOf('shop/reserve'))
    await die({ n: 2 })
    expect(await redriveMessage(queue, { id: eventId(identityOf({ n: 1 })) })).toEqual({
      redriven: 2,
      failed: 0,
      left: 1,
    })
    expect(await redriveMessage(queue, { id: 'unknown' })).toEqual({ redriven: 0, failed: 0, left: 1 })
  })

  it('refuses a handler without its consumer, an empty id and unknown options', async () => {
    const { queue } = open()
    const wrong = [{ id: 'x', handler: 'reserve' }, { id: '' }, { id: 'x', handlers: [] }]
    for (const letter of wrong)
      await expect(redriveMessage(queue, letter as never)).rejects.toMatchObject({ code: 'INVALID_SETTING' })
  })
})

describe('redriveMessages', () => {
  it(
    'moves any number of messages, each group in order, one of a group in each request',
    proves('group-never-overtaken'),
    async () => {
      const { queue, sqs, die, drain } = open()
      for (let n = 1; n <= 25; n += 1) await die({ group: 'long', n })
      for (let n = 1; n <= 12; n += 1) await die({ n: 100 + n })
      expect(await redriveMessages(queue, all)).toEqual({ redriven: 37, failed: 0, left: 0 })
      expect(sqs.deadLetters.depth()).toEqual({ visible: 0, invisible: 0, delayed: 0 })
      expect(Math.max(...sends(sqs.requests))).toBeGreaterThan(1)
      const moved = drain(sqs.queue)
      expect(numbers(moved.filter(({ groupId }) => groupId === 'long'))).toEqual(
        Array.from({ length: 25 }, (_, n) => n + 1),
      )
      expect(moved).toHaveLength(37)
    },
  )

  it('tells what a letter says, and moves what is picked', async () => {
    const { queue, sqs, die, drain } = open()
    await die({ n: 1 }, { ...noteOf('shop/mail'), reason: 'refused' })
    await die({ n: 2 })
    await sendLetter(sqs.client, sqs.deadLetterUrl, { body: 'not ours', group: 'x', deduplicationId: 'x' })
    const seen: DeadLetter[] = []
    const report = await redriveMessages(queue, (letter) => {
      seen.push(letter)
      return letter.reason === 'refused'
    })
    expect(report).toEqual({ redriven: 1, failed: 0, left: 2 })
    expect(seen).toEqual([
      { ...seenAs({ n: 1 }), handlers: ['shop/mail'], attempts: 8, reason: 'refused' },
      { ...seenAs({ n: 2 }), handlers: ['shop/reserve'], attempts: 8, reason: 'no' },
      {
        id: drain(sqs.deadLetters).find(({ body }) => body === 'not ours')?.messageId,
        handlers: [],
        since: expect.any(Number),
      },
    ])
  })

  it('keeps the bytes of a request under their limit', proves('request-limits'), async () => {
    const { queue, sqs } = open()
    for (const group of ['a', 'b', 'c'])
      await sendLetter(sqs.client, sqs.deadLetterUrl, { body: 'é'.repeat(200_000), group, deduplicationId: group })
    expect(await redriveMessages(queue, all)).toEqual({ redriven: 3, failed: 0, left: 0 })
    expect(sends(sqs.requests)).toEqual([2, 1])
  })

  it('moves what SQS itself has moved, under its message id', proves('ids-on-every-path'), async () => {
    const policy = JSON.stringify({ deadLetterTargetArn: queueArn('queue-dead.fifo'), maxReceiveCount: 1 })
    const { queue, sqs, drain } = open({ attributes: { RedrivePolicy: policy } })
    await sendLetter(sqs.client, sqs.queueUrl, { body: bodyOf({ n: 1 }), group: 'g', deduplicationId: 'first' })
    const [first] = sqs.queue.receive(1, 0)
    expect(sqs.queue.receive(1)).toEqual([])
    expect(await redriveMessage(queue, { id: eventId(identityOf({ n: 1 })) })).toEqual({
      redriven: 1,
      failed: 0,
      left: 0,
    })
    expect(drain(sqs.queue)).toMatchObject([
      { body: bodyOf({ n: 1 }), groupId: 'g', deduplicationId: first?.messageId, attributes: { tenant: {} } },
    ])
  })

  it('works on standard queues, with and without a group', async () => {
    const { queue, sqs, drain } = open({ queueName: 'plain' })
    const note = noteOf('shop/reserve')
    await sendLetter(sqs.client, sqs.deadLetterUrl, { body: bodyOf({ n: 1 }), note })
    await sendLetter(sqs.client, sqs.deadLetterUrl, { body: bodyOf({ n: 2 }), note, group: 'tenant' })
    expect(await redriveMessages(queue, all)).toEqual({ redriven: 2, failed: 0, left: 0 })
    const moved = drain(sqs.queue)
    expect(numbers(moved).toSorted()).toEqual([1, 2])
    expect(moved.map(({ groupId }) => groupId).toSorted()).toEqual(['tenant', undefined])
  })

  it('shares the messages of two passes at once', async () => {
    const { queue, die, sqs, drain } = open()
    for (let n = 1; n <= 30; n += 1) await die({ n })
    const [one, two] = await Promise.all([redriveMessages(queue, all), redriveMessages(queue, all)])
    expect([one.redriven + two.redriven, one.failed + two.failed]).toEqual([30, 0])
    expect(new Set(numbers(drain(sqs.queue))).size).toBe(30)
  })

  it('does not play ball with a handler that still fails for good', async () => {
    const { queue, die, clock, faults, sqs } = open()
    await die({ n: 1 })
    let round = 0
    const failAgain = async () => {
      clock.advance(1)
      round += 1
      await die({ n: 1 }, noteOf('shop/reserve', 2000 + round))
    }
    faults.next('DeleteMessageBatchCommand', ...Array.from({ length: 5 }, () => ({ meanwhile: failAgain })))
    expect(await redriveMessages(queue, all)).toEqual({ redriven: 1, failed: 0, left: 1 })
    expect(sqs.deadLetters.depth().visible).toBe(1)
    expect(await redriveMessages(queue, all)).toMatchObject({ redriven: 1 })
  })

  it('leaves what SQS itself had moved, once a handler has given it up during the pass', async () => {
    const { queue, clock, faults, sqs, die } = open()
    await sendLetter(sqs.client, sqs.deadLetterUrl, { body: bodyOf({ n: 1 }), group: 'x', deduplicationId: 'moved' })
    const failsAgain = async () => {
      clock.advance(1)
      await die({ n: 1 }, noteOf('shop/mail'))
      await die({ n: 1 }, noteOf('shop/reserve'))
    }
    faults.next('DeleteMessageBatchCommand', { meanwhile: failsAgain })
    expect(await redriveMessages(queue, all)).toEqual({ redriven: 1, failed: 0, left: 2 })
    expect(sqs.deadLetters.depth().visible).toBe(2)
  })

  it('sees all of them though they show again before its end, and ends', async () => {
    const { queue, die, clock, faults, sqs } = open()
    for (let n = 1; n <= 35; n += 1) await die({ n })
    const tooSlow = { meanwhile: async () => clock.advance(121_000) }
    faults.next('ReceiveMessageCommand', 'none', 'none', tooSlow, 'none', 'none', tooSlow)
    const seen = new Set<string>()
    const report = await redriveMessages(queue, ({ id }) => {
      seen.add(id)
      return false
    })
    expect(report).toEqual({ redriven: 0, failed: 0, left: 35 })
    expect(seen.size).toBe(35)
    expect(sqs.deadLetters.depth().visible).toBe(35)
  })
})

describe('a redrive that meets a failure', () => {
  it(
    'leaves a refused message and what follows it in its group, and moves the others',
    proves('entry-refused-in-200', 'group-never-overtaken'),
    async () => {
      let refuse = false
      const refuseEntry: FakeSqsOptions['refuseEntry'] = ({ MessageBody, MessageGroupId }) =>
        refuse && MessageGroupId === 'g' && numbers([{ body: MessageBody }])[0] === 2
          ? fault('InternalError', 'later', false)
          : undefined
      const { queue, die, sqs, drain } = open({ refuseEntry })
      for (const n of [1, 2, 3]) await die({ group: 'g', n })
      await die({ group: 'h', n: 4 })
      refuse = true
      expect(await redriveMessages(queue, ({ id }) => id !== '')).toEqual({ redriven: 2, failed: 2, left: 0 })
      expect(sqs.deadLetters.depth()).toEqual({ visible: 2, invisible: 0, delayed: 0 })
      refuse = false
      expect(await redriveMessages(queue, all)).toEqual({ redriven: 2, failed: 0, left: 0 })
      expect(numbers(drain(sqs.queue).filter(({ groupId }) => groupId === 'g'))).toEqual([1, 2, 3])
    },
  )

  it('sends nothing of a group past a refused one, though a later request shows what follows', async () => {
    let refuse = false
    const refuseEntry: FakeSqsOptions['refuseEntry'] = ({ MessageBody, MessageGroupId }) =>
      refuse && MessageGroupId === 'g' && numbers([{ body: MessageBody }])[0] === 1
        ? fault('InternalError', 'later', false)
        : undefined
    const { queue, die, sqs, drain } = open({ refuseEntry })
    // The first request for letters shows nine others, and of the group only its first.
    for (let n = 11; n <= 19; n += 1) await die({ n })
    for (const n of [1, 2, 3]) await die({ group: 'g', n })
    answerDepths(sqs)
    refuse = true
    expect(await redriveMessages(queue, all)).toEqual({ redriven: 9, failed: 3, left: 0 })
    refuse = false
    expect(await redriveMessages(queue, all)).toEqual({ redriven: 3, failed: 0, left: 0 })
    expect(numbers(drain(sqs.queue).filter(({ groupId }) => groupId === 'g'))).toEqual([1, 2, 3])
  })

  it('takes a message in neither list of an answer for one that was not sent', async () => {
    const { queue, die, sqs } = open()
    for (const n of [1, 2, 3]) await die({ n })
    editAnswer(sqs.client, 'SendMessageBatchCommand', ({ Successful }) => ({ Successful: Successful.slice(1) }))
    expect(await redriveMessages(queue, all)).toEqual({ redriven: 2, failed: 1, left: 0 })
    expect(sqs.deadLetters.depth().visible).toBe(1)
    // It was accepted after all: now the queue drops it.
    expect(await redriveMessages(queue, all)).toMatchObject({ redriven: 0, failed: 1 })
    expect(sqs.queue.depth().visible).toBe(3)
  })

  it(
    'reports what it could not delete, and a further redrive adds nothing',
    proves('redrive-within-dedup'),
    async () => {
      const { queue, die, sqs, faults } = open()
      await die({ group: 'g', n: 1 })
      await die({ n: 2 })
      // Somebody makes the first one visible before it is deleted: its handle has ended.
      const meanwhile = () => {
        const [input] = faults.inputs('DeleteMessageBatchCommand') as { Entries: Message[] }[]
        const Entries = [{ Id: '0', ReceiptHandle: input?.Entries[0]?.ReceiptHandle, VisibilityTimeout: 0 }]
        return sqs.client.send(new ChangeMessageVisibilityBatchCommand({ QueueUrl: sqs.deadLetterUrl, Entries }))
      }
      faults.next('DeleteMessageBatchCommand', { meanwhile })
      expect(await redriveMessages(queue, all)).toEqual({ redriven: 1, failed: 1, left: 0 })
      expect([sqs.queue.depth().visible, sqs.deadLetters.depth().visible]).toEqual([2, 1])
      expect(await redriveMessages(queue, all)).toEqual({ redriven: 1, failed: 0, left: 0 })
      expect([sqs.queue.depth().visible, sqs.deadLetters.depth().visible]).toEqual([2, 0])
    },
  )

  it('throws what the SDK throws; all that is still here is visible at once', async () => {
    for (const command of ['ReceiveMessageCommand', 'SendMessageBatchCommand', 'DeleteMessageBatchCommand']) {
      const { queue, die, sqs, faults } = open()
      for (let n = 1; n <= 12; n += 1) await die({ n })
      faults.next(command, 'none', { before: networkError() })
      await expect(redriveMessages(queue, all)).rejects.toThrow('socket hang up')
      expect(sqs.deadLetters.depth()).toEqual({ visible: 2, invisible: 0, delayed: 0 })
      expect(await redriveMessages(queue, all)).toEqual({ redriven: 2, failed: 0, left: 0 })
      expect(sqs.queue.depth().visible).toBe(12)
    }
  })

  it('adds nothing when it is repeated after a send whose answer was lost', async () => {
    const { queue, die, sqs, faults } = open()
    for (const n of [1, 2]) await die({ n })
    faults.next('SendMessageBatchCommand', { after: networkError() })
    await expect(redriveMessages(queue, all)).rejects.toThrow('socket hang up')
    expect(await redriveMessages(queue, all)).toEqual({ redriven: 2, failed: 0, left: 0 })
    expect([sqs.queue.depth().visible, sqs.deadLetters.depth().visible]).toEqual([2, 0])
  })

  it('throws what the choice throws, and a release that fails does not hide it', async () => {
    const { queue, die, sqs, faults } = open()
    await die({ n: 1 })
    const choose = () => {
      throw new RangeError('my own')
    }
    await expect(redriveMessages(queue, choose)).rejects.toThrow('my own')
    expect(sqs.deadLetters.depth().visible).toBe(1)
    faults.next('ChangeMessageVisibilityBatchCommand', { before: networkError() })
    await expect(redriveMessages(queue, choose)).rejects.toThrow('my own')
  })

  it('refuses queues that do not fit, and passes on that one does not exist', async () => {
    const { queue } = open()
    const wrong = [
      { ...queue, deadLetterQueueUrl: queue.queueUrl },
      { ...queue, deadLetterQueueUrl: 'https://sqs.invalid/0/standard' },
      { ...queue, queueUrl: 'orders.fifo' },
      { ...queue, deadLetterUrl: queue.deadLetterQueueUrl },
    ]
    for (const one of wrong) await expect(redriveMessages(one, all)).rejects.toMatchObject({ code: 'INVALID_SETTING' })
    const missing = { ...queue, deadLetterQueueUrl: 'http://sqs.invalid/0/gone.fifo' }
    await expect(redriveMessages(missing, all)).rejects.toMatchObject({ name: 'QueueDoesNotExist' })
  })
})

/** How many messages there are makes a pass ask for what follows in a group. */
function answerDepths({ client, deadLetters }: ReturnType<typeof createFakeSqs>): void {
  const middleware =
    (next: (args: unknown) => Promise<{ output: object }>, { commandName }: { commandName?: string }) =>
    async (args: unknown) => {
      if (commandName !== 'GetQueueAttributesCommand') return next(args)
      const { visible, invisible } = deadLetters.depth()
      const Attributes = {
        ApproximateNumberOfMessages: String(visible),
        ApproximateNumberOfMessagesNotVisible: String(invisible),
      }
      return { output: { $metadata: {}, Attributes }, response: {} }
    }
  client.middlewareStack.add(middleware as never, { step: 'initialize', name: 'depths' })
}

/** Changes what a client answers to one command. */
function editAnswer(
  client: ReturnType<typeof createFakeSqs>['client'],
  command: string,
  edit: (output: { Successful: { Id: string }[] }) => object,
): void {
  const middleware =
    (next: (args: unknown) => Promise<{ output: object }>, { commandName }: { commandName?: string }) =>
    async (args: unknown) => {
      const result = await next(args)
      return commandName === command
        ? { ...result, output: { ...result.output, ...edit(result.output as never) } }
        : result
    }
  client.middlewareStack.add(middleware as never, { step: 'initialize', name: 'edit' })
}
