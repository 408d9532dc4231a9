import { randomUUID } from 'node:crypto'
import type { Clock } from '../clock.ts'
import { OutboxError } from '../errors.ts'
import { createDeduplicationWindow, deduplicationId, deduplicationKey } from './deduplication.ts'
import type { LocalQueue } from './local-queue.ts'
import { LOCAL_REGION } from './records.ts'
import { failedEntry, MESSAGE_ACTIONS, type SqsAnswer, type SqsInput } from './sqs-actions.ts'
import { acceptEntry, createQueueRegistry, md5, type QueueRegistry } from './sqs-registry.ts'
import { entryFault, fault, type SqsFault, sendBatchFault, type WireEntry } from './sqs-rules.ts'

export type SqsEngine = {
  readonly endpoint: string
  readonly queues: QueueRegistry
  /** While true, every request is answered with 503 and changes nothing. */
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

const CONTENT_TYPE = 'application/x-amz-json-1.0'

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
      const id = deduplicationId(entry, queue.rules())
      acceptEntry(queue, entry, {
        messageId: result.MessageId,
        ...(result.SequenceNumber === undefined ? {} : { sequenceNumber: result.SequenceNumber }),
        ...(id === undefined ? {} : { deduplicationId: id }),
      })
    }
    return refused.length === 0 ? payload : { ...payload, Failed: [...(payload.Failed ?? []), ...refused] }
  }

  const answerHere = (action: string, request: object, body: Body): SqsAnswer | Promise<SqsAnswer> | undefined => {
    if (down) return { fault: fault('ServiceUnavailable', 'The service is down.', false) }
    const queue = queues.find(body.QueueUrl)
    if (queue === undefined) return undefined
    if (action === 'SendMessage' || action === 'SendMessageBatch') return beginSend(request, body, queue)
    return MESSAGE_ACTIONS[action]?.(queue, body, clock)
  }

  app.addHook('preHandler', async (request, reply) => {
    const action = actionOf(request.headers)
    const answer = action === undefined ? undefined : await answerHere(action, request, request.body as Body)
    if (answer === undefined) return
    reply.header('content-type', CONTENT_TYPE)
    if ('body' in answer) return reply.send(answer.body)
    reply.code(answer.fault.senderFault ? 400 : 503).header('x-amzn-query-error', queryError(answer.fault))
    return reply.send({ __type: `com.amazonaws.sqs#${answer.fault.code}`, message: answer.fault.message })
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

function actionOf(headers: Readonly<Record<string, unknown>>): string | undefined {
  const target = headers['x-amz-target']
  return typeof target === 'string' && target.startsWith('AmazonSQS.') ? target.slice('AmazonSQS.'.length) : undefined
}

function queryError({ code, senderFault }: SqsFault): string {
  return `${code};${senderFault ? 'Sender' : 'Receiver'}`
}

async function loadEngine(): Promise<typeof import('fauxqs')> {
  try {
    return await import('fauxqs')
  } catch (cause) {
    throw new OutboxError('ENGINE_MISSING', 'No SQS engine was found. Install fauxqs: npm install --save-dev fauxqs.', {
      cause,
    })
  }
}
