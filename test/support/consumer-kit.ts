import { SendMessageCommand } from '@aws-sdk/client-sqs'
import { type Consumer, type ConsumerOptions, createConsumer } from '../../src/consumer/consumer.ts'
import type { SqsRecord } from '../../src/consumer/sqs-event.ts'
import { createSqsQueue } from '../../src/consumer/sqs-queue.ts'
import { encodeBody } from '../../src/event/codec.ts'
import { eventId, type Identity } from '../../src/event/identity.ts'
import { decodeLifeNote, encodeLifeNote, LIFE_ATTRIBUTE, type LifeNote } from '../../src/event/life.ts'
import { createClaims } from '../../src/ledger/claims.ts'
import { completionAction } from '../../src/ledger/dynamo-ledger.ts'
import type { Entry } from '../../src/ledger/entry.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import type { CommitOutcome, CommitRequest, Committer } from '../../src/outbox/commit.ts'
import type { MetricKey } from '../../src/telemetry.ts'
import { createFakeSqs, type FakeSqsOptions } from '../../src/testing/fake-sqs.ts'
import type { LocalQueue } from '../../src/testing/local-queue.ts'
import { createManualClock } from '../../src/testing/manual-clock.ts'
import { sqsRecord } from '../../src/testing/records.ts'
import { createMemoryLedgerStore, type MemoryLedgerStore } from './memory-ledger-store.ts'

export const START = 1_800_000_000_000
export const FUNCTION_MS = 30_000
/** From an invocation's start: its lease, and when SQS shows a batch again that it did not answer for. */
export const LEASE_MS = FUNCTION_MS + 2000
export const HELD_MS = LEASE_MS + 2000

export type TestEvent = {
  readonly group?: string
  /** Names the event; its number within the group. */
  readonly n: number
  readonly type?: string
  readonly data?: unknown
  readonly life?: number
  readonly note?: LifeNote
}

export const identityOf = ({ group, n }: TestEvent): Identity =>
  group === undefined ? { source: 'test', key: `k${n}` } : { source: 'test', group, sequence: n }

export function bodyOf(event: TestEvent): string {
  const { type = 'order.placed', data = { n: event.n }, life = START - 1000 } = event
  const time = '2027-01-15T08:00:00Z'
  return encodeBody({ identity: identityOf(event), type, time, dataText: JSON.stringify(data), headers: {}, life })
}

export type KitOptions = Pick<ConsumerOptions, 'handlers'> & {
  readonly consumer?: Partial<ConsumerOptions>
  readonly sqs?: FakeSqsOptions
}

/** A consumer on a strict queue and a strict ledger, on a clock that stands still. */
export function createConsumerKit({ handlers, consumer: more = {}, sqs: sqsOptions = {} }: KitOptions) {
  const clock = createManualClock(START)
  const sqs = createFakeSqs({ clock, attributes: { VisibilityTimeout: '900' }, ...sqsOptions })
  const store = createMemoryLedgerStore()
  const committer = createFakeCommitter(store)
  const ledger: Ledger = {
    kind: 'documentClient',
    ...createClaims({ store, clock, keepSeconds: 30 * 86_400 }),
    completion: (claim) => completionAction('ledger', claim),
    committer,
  }
  const counts = new Map<MetricKey, number>()
  const lines: { level: string; message: string; fields: Record<string, unknown> }[] = []
  const log = (level: string) => (message: string, fields: Record<string, unknown>) =>
    void lines.push({ level, message, fields })
  const queue = createSqsQueue({ client: sqs.client, deadLetterQueueUrl: sqs.deadLetterUrl, queueUrl: sqs.queueUrl })
  const options: ConsumerOptions = {
    name: 'shop',
    ledger,
    queue,
    handlers,
    clock,
    logger: { info: log('info'), warn: log('warn'), error: log('error') },
    telemetry: { count: (metric, value = 1) => void counts.set(metric, (counts.get(metric) ?? 0) + value) },
    ...more,
  }
  const consumer = createConsumer(options)

  const send = async (...events: readonly TestEvent[]): Promise<void> => {
    for (const event of events) {
      const { note, group } = event
      const fifo = { MessageGroupId: group ?? eventId(identityOf(event)), MessageDeduplicationId: clock.id() }
      await sqs.client.send(
        new SendMessageCommand({
          QueueUrl: sqs.queueUrl,
          MessageBody: bodyOf(event),
          ...(sqs.queue.fifo ? fifo : {}),
          ...(note === undefined
            ? {}
            : { MessageAttributes: { [LIFE_ATTRIBUTE]: { DataType: 'String', StringValue: encodeLifeNote(note) } } }),
        }),
      )
    }
  }

  /** When the next hidden message shows again. */
  const comesBackAt = () => sqs.queue.nextVisibleAt(clock.now())

  const handles: string[] = []
  /** One invocation with what the queue gives; deletes what the answer does not keep. */
  const invoke = async (max = 10, using: Consumer = consumer) => {
    const records = receive(sqs.queue, max)
    handles.push(...records.map(({ receiptHandle }) => receiptHandle))
    const deadline = clock.now() + FUNCTION_MS
    const context = { getRemainingTimeInMillis: () => deadline - clock.now() }
    const { batchItemFailures } = await using({ Records: records }, context)
    const kept = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
    for (const { messageId, receiptHandle } of records) if (!kept.has(messageId)) sqs.queue.delete(receiptHandle)
    return { received: records.length, kept: batchItemFailures.length, keptIds: [...kept], records }
  }

  /** Invokes until the queue is empty or nothing comes for `limitMs`, moving time on to each message's return. */
  const drain = async (limitMs = 3_600_000) => {
    const end = clock.now() + limitMs
    for (;;) {
      const { received } = await invoke()
      if (received > 0) continue
      const next = comesBackAt()
      if (next === undefined || next > end) return
      await clock.advance(next - clock.now())
    }
  }

  /** Moves time on in small steps, letting each turn of the event loop do its work. */
  const pass = async (ms: number) => {
    for (let step = 0; step < 100; step++) {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
      await clock.advance(ms / 100)
    }
  }

  return {
    clock,
    pass,
    comesBackAt,
    sqs,
    store,
    ledger,
    committer,
    options,
    consumer,
    /** Another version of the consumer, on the same queue and ledger. */
    consumerWith: (changes: Partial<ConsumerOptions>) => createConsumer({ ...options, ...changes }),
    counts,
    lines,
    send,
    invoke,
    drain,
    row: (event: TestEvent, handler: string): Entry | undefined =>
      store.read({ id: eventId(identityOf(event)), name: `shop/${handler}` }),
    /** Of the n-th message received, counted from 1. */
    handleOf: (n: number) => handles[n - 1] ?? '',
    deadLetters: () => receive(sqs.deadLetters, 10).map(deadLetterOf),
    left: () => sqs.queue.depth().visible + sqs.queue.depth().invisible,
    /** What the AWS console's redrive does: body, group and attributes as they are, a new id. */
    redriveAll: async () => {
      for (const record of receive(sqs.deadLetters, 10)) {
        await sqs.client.send(
          new SendMessageCommand({
            QueueUrl: sqs.queueUrl,
            MessageBody: record.body,
            MessageGroupId: record.attributes.MessageGroupId,
            MessageDeduplicationId: clock.id(),
            MessageAttributes: Object.fromEntries(
              Object.entries(record.messageAttributes).map(([name, { dataType, stringValue }]) => [
                name,
                { DataType: dataType, StringValue: stringValue },
              ]),
            ),
          }),
        )
        sqs.deadLetters.delete(record.receiptHandle)
      }
    },
  }
}

function deadLetterOf({ body, attributes, messageAttributes }: SqsRecord) {
  return {
    body,
    group: attributes.MessageGroupId,
    note: decodeLifeNote(messageAttributes[LIFE_ATTRIBUTE]?.stringValue ?? ''),
  }
}

function receive(queue: LocalQueue, max: number): SqsRecord[] {
  return queue.receive(max).map((message) => {
    const { messageId, body, groupId, receiveCount, handle = '', sentAt } = message
    const record = sqsRecord({
      messageId,
      body,
      receiptHandle: handle,
      receiveCount,
      sentAt,
      queueName: queue.name,
      ...(groupId === undefined ? {} : { groupId }),
    })
    const messageAttributes = Object.fromEntries(
      Object.entries(message.attributes).map(([name, { DataType, StringValue, BinaryValue }]) => [
        name,
        { dataType: DataType, stringValue: StringValue, binaryValue: BinaryValue },
      ]),
    )
    return { ...record, messageAttributes }
  })
}

export type FakeCommitter = Committer & {
  readonly requests: CommitRequest[]
  /** Outcomes of the next commits, in order; `lost-answer` applies and then knows nothing, a promise is waited for. Else: the guard decides. */
  readonly script: (CommitOutcome | 'lost-answer' | Promise<void>)[]
}

/** Commits guards for real, against the ledger's rows; writes and events are only recorded. */
function createFakeCommitter(store: MemoryLedgerStore): FakeCommitter {
  const requests: CommitRequest[] = []
  const script: FakeCommitter['script'] = []
  return {
    kind: 'documentClient',
    requests,
    script,
    commit: async (request) => {
      const scripted = script.shift()
      if (typeof scripted === 'object' && 'status' in scripted) return scripted
      await scripted
      const [guard] = request.guards ?? []
      if (guard === undefined || !('Update' in guard)) throw new Error('a commit without the ledger in it')
      const { Key, ExpressionAttributeValues: values = {} } = guard.Update
      const write = {
        kind: 'update' as const,
        key: { id: String(Key.pk), name: String(Key.sk) },
        expect: { token: String(values[':token']), status: String(values[':status']) as Entry['status'] },
        set: { status: String(values[':done']) as Entry['status'] },
      }
      const answer = await store.write(write)
      if (answer.status === 'failed') {
        const entry = store.read(write.key)
        if (entry?.token === write.expect.token && entry.status === 'done') requests.push(request)
        return { status: 'unknown', cause: new Error(answer.reason) }
      }
      if (answer.status === 'refused') {
        const { id: pk, name: sk, ...rest } = answer.entry ?? write.key
        return { status: 'guard-failed', index: 0, item: { pk, sk, ...rest } }
      }
      requests.push(request)
      if (scripted === 'lost-answer') return { status: 'unknown', cause: new Error('socket hang up') }
      return { status: 'committed', events: [] }
    },
  }
}
