import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { OutboxError } from '../errors.ts'
import { createDeduplicationWindow, deduplicationId, deduplicationKey } from './deduplication.ts'
import type { LocalQueue } from './local-queue.ts'
import { LOCAL_REGION } from './records.ts'
import { failedEntry, MESSAGE_ACTIONS, type SqsAnswer, type SqsInput } from './sqs-actions.ts'
import { acceptEntry, createQueueRegistry, md5, type QueueRegistry } from './sqs-registry.ts'
import { entryFault, fault, sendBatchFault, type WireEntry } from './sqs-rules.ts'
import { actionOf, SQS_CONTENT_TYPE, wireAnswer } from './sqs-wire.ts'

export type SqsEngine = {
  readonly endpoint: string
  readonly queues: QueueRegistry
  /** While true, every request is answered with 503 and changes nothing, and event sources get nothing. */
  readonly setOutage: (down: boolean) => void
  readonly stop: () => Promise<void>
}

type Body = Omit<SqsInput, 'Entries'> &
  Partial<Omit<WireEntry, 'Id'>> & {
    QueueName?: string
    Attributes?: Record<string, string>
    Entries?: WireEntry[]
  }
type Sent = { MessageId: string; SequenceNumber?: string; Id?: string; MD5OfMessageBody?: string }
type Payload = {
  QueueUrl?: string
  Attributes?: Record<string, string>
  Successful?: Sent[]
  Failed?: object[]
} & Partial<Sent>

/** A send on its way through the engine. */
type Sending = {
  readonly queue: LocalQueue
  readonly entries: readonly WireEntry[]
  readonly refused: readonly object[]
}

/** Marks a request of our own, for the engine alone. */
const INTERNAL = 'x-internal'
const FORGET_EVERY = 500

/**
 * Starts fauxqs on a free port of 127.0.0.1. It speaks the protocol, keeps the queues and accepts, numbers and
 * deduplicates what is sent. Accepted messages then live in {@link LocalQueue}s, on the clock's time and under SQS's own
 * rules for groups; what the engine would let pass (ids of bad form) or refuse wrongly (characters above U+FFFF) is put
 * right on the way in.
 */
export async function startSqsEngine(clock: Clock): Promise<SqsEngine> {
  const { buildApp } = await loadEngine()
  const app = buildApp({ logger: false, defaultRegion: LOCAL_REGION })
  const queues = createQueueRegistry(clock)
  const sends = new WeakMap<object, Sending>()
  const seen = new Set<string>()
  const windows = createDeduplicationWindow<string>()
  const token = randomUUID()
  let down = false
  let endpoint = ''

  /** The engine's window is five minutes of real time: it gets an id that lasts as long as the clock's window does. */
  const engineId = (queue: LocalQueue, entry: WireEntry): string | undefined => {
    const id = deduplicationId(entry, queue.rules())
    if (id === undefined) return undefined
    const key = `${queue.name} ${deduplicationKey(id, entry, queue.rules())}`
    const known = windows.get(key, clock.now())
    const fresh = known ?? randomUUID()
    if (known === undefined) windows.set(key, fresh, clock.now())
    return fresh
  }

  const toEngine = (queue: LocalQueue, entry: WireEntry): WireEntry => {
    const id = engineId(queue, entry)
    const plain = { ...entry, MessageBody: entry.MessageBody.replace(/[\u{10000}-\u{10FFFF}]/gu, '????') }
    return id === undefined ? plain : { ...plain, MessageDeduplicationId: id }
  }

  /** Checks a send and hands the engine what may pass; answers itself if nothing may. */
  const beginSend = (request: object, body: Body, queue: LocalQueue): SqsAnswer | undefined => {
    const batch = body.Entries !== undefined
    const entries = body.Entries ?? [{ ...body, Id: 'single', MessageBody: body.MessageBody ?? '' }]
    const whole = batch ? sendBatchFault(entries) : undefined
    if (whole !== undefined) return { fault: whole }
    const checked = entries.map((entry) => ({ entry, fault: entryFault(entry, queue.rules()) }))
    const refused = checked.flatMap(({ entry, fault: found }) =>
      found === undefined ? [] : [failedEntry(entry.Id, found)],
    )
    const passed = checked.flatMap(({ entry, fault: found }) => (found === undefined ? [entry] : []))
    const [first] = checked
    if (!batch && first?.fault !== undefined) return { fault: first.fault }
    if (passed.length === 0) return { body: { Successful: [], Failed: refused } }
    sends.set(request, { queue, entries: passed, refused })
    if (batch) body.Entries = passed.map((entry) => toEngine(queue, entry))
    else Object.assign(body, toEngine(queue, { ...body, Id: 'single', MessageBody: body.MessageBody ?? '' }))
    return undefined
  }

  /** Takes over what the engine accepted. A duplicate has the id of a message that was taken over before. */
  const endSend = ({ queue, entries, refused }: Sending, payload: Payload): Payload => {
    const results = payload.Successful ?? (payload.MessageId === undefined ? [] : [payload as Sent])
    for (const result of results) {
      const entry = result.Id === undefined ? entries[0] : entries.find(({ Id }) => Id === result.Id)
      if (entry === undefined) continue
      result.MD5OfMessageBody = md5(entry.MessageBody)
      if (seen.has(result.MessageId)) continue
      seen.add(result.MessageId)
      if (seen.size % FORGET_EVERY === 0) forget(queue)
      const id = deduplicationId(entry, queue.rules())
      acceptEntry(queue, entry, {
        messageId: result.MessageId,
        ...(result.SequenceNumber === undefined ? {} : { sequenceNumber: result.SequenceNumber }),
        ...(id === undefined ? {} : { deduplicationId: id }),
      })
    }
    return refused.length === 0 ? payload : { ...payload, Failed: [...(payload.Failed ?? []), ...refused] }
  }

  /** What was taken over lies in the engine as well: emptied now and then. Its memory of ids is not touched by that. */
  const forget = (queue: LocalQueue): void => {
    const headers = { 'content-type': SQS_CONTENT_TYPE, 'x-amz-target': 'AmazonSQS.PurgeQueue', [INTERNAL]: token }
    void app.inject({ method: 'POST', url: '/', headers, payload: JSON.stringify({ QueueUrl: queue.url }) })
  }

  const answerHere = (action: string, request: object, body: Body): SqsAnswer | Promise<SqsAnswer> | undefined => {
    if (down) return { fault: fault('ServiceUnavailable', 'The service is down.', false) }
    const queue = queues.find(body.QueueUrl)
    if (queue === undefined) return undefined
    if (action === 'SendMessage' || action === 'SendMessageBatch') return beginSend(request, body, queue)
    return MESSAGE_ACTIONS[action]?.(queue, body, clock)
  }

  app.addHook('preHandler', async (request, reply) => {
    const action = request.headers[INTERNAL] === token ? undefined : actionOf(request.headers)
    const answer = action === undefined ? undefined : await answerHere(action, request, request.body as Body)
    if (answer === undefined) return
    const { status, headers, body } = wireAnswer(answer)
    return reply.code(status).headers(headers).send(body)
  })

  app.addHook('preSerialization', async (request, reply, payload) => {
    const action = actionOf(request.headers)
    if (action === undefined || reply.statusCode !== 200) return payload
    const body = request.body as Body
    const answer = payload as Payload
    const sending = sends.get(request)
    if (sending !== undefined) return endSend(sending, answer)
    if (action === 'DeleteQueue') queues.remove(body.QueueUrl ?? '')
    if (action === 'SetQueueAttributes') queues.find(body.QueueUrl)?.setAttributes(body.Attributes ?? {})
    if (action === 'CreateQueue' || action === 'GetQueueUrl') {
      const name = body.QueueName ?? ''
      return { ...answer, QueueUrl: queues.create(name, endpoint, body.Attributes ?? {}).url }
    }
    return action === 'GetQueueAttributes' ? withDepth(answer, queues.find(body.QueueUrl)) : payload
  })

  endpoint = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    endpoint,
    queues,
    setOutage: (value) => {
      down = value
      queues.setOutage(value)
    },
    stop: async () => {
      await app.close()
    },
  }
}

/** The engine's own counts are of messages that were taken over: replaced, where asked for, by the queue's. */
function withDepth(answer: Payload, queue: LocalQueue | undefined): Payload {
  if (queue === undefined) return answer
  const { visible, invisible, delayed } = queue.depth()
  const counts: Record<string, number> = {
    ApproximateNumberOfMessages: visible,
    ApproximateNumberOfMessagesNotVisible: invisible,
    ApproximateNumberOfMessagesDelayed: delayed,
  }
  const attributes = Object.entries(answer.Attributes ?? {}).map(([name, value]) => [
    name,
    String(counts[name] ?? value),
  ])
  return { ...answer, Attributes: Object.fromEntries(attributes) }
}

async function loadEngine(): Promise<typeof import('fauxqs')> {
  try {
    return await import('fauxqs')
  } catch (cause) {
    throw new OutboxError(
      'ENGINE_MISSING',
      `The SQS engine could not be loaded. Install it with npm install --save-dev fauxqs, and run Node 22.5 or newer (this is ${process.version}).`,
      { cause },
    )
  }
}
