import { SQSClient } from '@aws-sdk/client-sqs'
import type { Clock } from '../clock.ts'
import { checkOptions } from '../settings.ts'
import { createDeduplicationWindow, deduplicationId, deduplicationKey } from './deduplication.ts'
import type { LocalQueue } from './local-queue.ts'
import { createManualClock } from './manual-clock.ts'
import { LOCAL_REGION } from './records.ts'
import { failedEntry, MESSAGE_ACTIONS, type SqsAnswer, type SqsInput } from './sqs-actions.ts'
import { acceptEntry, createQueueRegistry, md5 } from './sqs-registry.ts'
import { entryFault, fault, type SqsFault, sendBatchFault, type WireEntry } from './sqs-rules.ts'
import { actionOf, wireAnswer } from './sqs-wire.ts'

export type FakeSqsOptions = {
  /** Default: a manual clock. */
  readonly clock?: Clock
  /** Name of the one queue; a standard queue unless it ends in `.fifo`. Default `queue.fifo`. */
  readonly queueName?: string
  /** As for `CreateQueue`. */
  readonly attributes?: Readonly<Record<string, string>>
  /** Refuses requests as a whole, before anything else is looked at: an outage, a throttle, a missing permission. */
  readonly failRequest?: (action: string) => SqsFault | undefined
  /** Refuses single entries of a send that SQS's own rules would take. */
  readonly refuseEntry?: (entry: WireEntry) => SqsFault | undefined
}

export type FakeSqs = {
  /** A real client whose requests are answered in memory; it does not retry. */
  readonly client: SQSClient
  readonly queueUrl: string
  readonly deadLetterUrl: string
  readonly queue: LocalQueue
  readonly deadLetters: LocalQueue
  /** Every request, in order. */
  readonly requests: readonly { readonly action: string; readonly entries: number }[]
}

type Body = Omit<SqsInput, 'Entries'> & Partial<WireEntry> & { readonly Entries?: readonly WireEntry[] }
type Accepted = { readonly MessageId: string; readonly SequenceNumber?: string; readonly MD5OfMessageBody: string }

const ENDPOINT = 'http://sqs.invalid'

/**
 * SQS in memory, as strict as SQS: its limits, its characters, its deduplication by scope for five minutes of the clock,
 * groups blocked until deleted or visible, several messages of a group in one receive, handles that expire. One queue
 * and its dead-letter queue. It can refuse what no engine can be made to refuse.
 */
export function createFakeSqs(options: FakeSqsOptions = {}): FakeSqs {
  checkOptions('createFakeSqs', options, ['clock', 'queueName', 'attributes', 'failRequest', 'refuseEntry'])
  const { clock = createManualClock(), queueName = 'queue.fifo', failRequest = () => undefined } = options
  const { refuseEntry = () => undefined } = options
  const registry = createQueueRegistry(clock)
  const queue = registry.create(queueName, ENDPOINT, options.attributes ?? {})
  const deadLetters = registry.create(queueName.replace(/(\.fifo)?$/, '-dead$1'), ENDPOINT, {})
  const known = createDeduplicationWindow<Accepted>()
  const requests: { action: string; entries: number }[] = []
  let sequence = 0

  const accept = (target: LocalQueue, entry: WireEntry): Accepted => {
    const id = deduplicationId(entry, target.rules())
    const key = id === undefined ? undefined : `${target.name} ${deduplicationKey(id, entry, target.rules())}`
    const duplicate = key === undefined ? undefined : known.get(key, clock.now())
    if (duplicate !== undefined) return { ...duplicate, MD5OfMessageBody: md5(entry.MessageBody) }
    sequence += 1
    const numbered = target.fifo ? { SequenceNumber: String(sequence).padStart(20, '0') } : {}
    const accepted: Accepted = { MessageId: clock.id(), MD5OfMessageBody: md5(entry.MessageBody), ...numbered }
    if (key !== undefined) known.set(key, accepted, clock.now())
    acceptEntry(target, entry, {
      messageId: accepted.MessageId,
      ...(accepted.SequenceNumber === undefined ? {} : { sequenceNumber: accepted.SequenceNumber }),
      ...(id === undefined ? {} : { deduplicationId: id }),
    })
    return accepted
  }

  const send = (target: LocalQueue, body: Body): SqsAnswer => {
    const entry = { ...body, Id: 'single', MessageBody: body.MessageBody ?? '' }
    const refused = entryFault(entry, target.rules()) ?? refuseEntry(entry)
    return refused === undefined ? { body: accept(target, entry) } : { fault: refused }
  }

  const sendBatch = (target: LocalQueue, { Entries = [] }: Body): SqsAnswer => {
    const whole = sendBatchFault(Entries)
    if (whole !== undefined) return { fault: whole }
    const successful: object[] = []
    const failed: object[] = []
    for (const entry of Entries) {
      const refused = entryFault(entry, target.rules()) ?? refuseEntry(entry)
      if (refused === undefined) successful.push({ Id: entry.Id, ...accept(target, entry) })
      else failed.push(failedEntry(entry.Id, refused))
    }
    return { body: { Successful: successful, Failed: failed } }
  }

  const answer = async (action: string, body: Body): Promise<SqsAnswer> => {
    requests.push({ action, entries: body.Entries?.length ?? 1 })
    const failure = failRequest(action)
    if (failure !== undefined) return { fault: failure }
    const target = registry.find(body.QueueUrl)
    if (target === undefined) return { fault: fault('QueueDoesNotExist', 'The specified queue does not exist.') }
    if (action === 'SendMessage') return send(target, body)
    if (action === 'SendMessageBatch') return sendBatch(target, body)
    const known = MESSAGE_ACTIONS[action]
    return known === undefined
      ? { fault: fault('UnsupportedOperation', `The fake does not know ${action}.`) }
      : known(target, body, clock)
  }

  return { client: clientOf(answer), queueUrl: queue.url, deadLetterUrl: deadLetters.url, queue, deadLetters, requests }
}

/** A real client, so that what the SDK checks and serialises is checked and serialised here too. */
function clientOf(answer: (action: string, body: Body) => Promise<SqsAnswer>): SQSClient {
  return new SQSClient({
    endpoint: ENDPOINT,
    region: LOCAL_REGION,
    credentials: { accessKeyId: 'fake', secretAccessKey: 'fake' },
    maxAttempts: 1,
    requestHandler: {
      metadata: { handlerProtocol: 'http/1.1' },
      destroy: () => {},
      updateHttpClientConfig: () => {},
      httpHandlerConfigs: () => ({}),
      handle: async ({ headers, body }: { headers: Record<string, string>; body?: unknown }) => {
        const action = actionOf(headers) ?? ''
        const text = typeof body === 'string' ? body : new TextDecoder().decode(body as Uint8Array)
        const answered = wireAnswer(await answer(action, JSON.parse(text) as Body))
        const bytes = Buffer.from(JSON.stringify(answered.body))
        return { response: { statusCode: answered.status, headers: answered.headers, body: bytes } }
      },
    },
  })
}
