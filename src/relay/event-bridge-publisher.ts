import {
  type PutEventsRequestEntry as Entry,
  type EventBridgeClient,
  PutEventsCommand,
} from '@aws-sdk/client-eventbridge'
import { type Clock, systemClock } from '../clock.ts'
import { checkClient, checkOptions, invalidSetting } from '../settings.ts'
import { entryOutcome, entrySize, eventEntry, isAboutOneEntry, requestOutcome } from './event-bridge-batch.ts'
import { createBusLook } from './event-bridge-bus-look.ts'
import { checkDestinationName, type OutgoingMessage, type Publisher, type PublishOutcome } from './publisher.ts'

/** Most bytes of all entries of one request together, as EventBridge counts them: less than 1 MiB. */
const MAX_REQUEST_BYTES = 1_048_575
const MAX_REQUEST_ENTRIES = 10

export type EventBridgePublisherOptions = {
  readonly client: EventBridgeClient
  /** Name or ARN of the bus. The function needs `events:PutEvents` and `events:DescribeEventBus` on it. */
  readonly busName: string
  /** Name of the destination in a row's `accepted`, 1–64 characters. Default: the bus's name. Never change it. */
  readonly name?: string
  readonly clock?: Clock
}

/**
 * Sends to an event bus: `Source` is the event's source, `DetailType` its type, `Detail` the body verbatim. A bus keeps
 * no order and removes no duplicates; consumers behind it need the ledger. Nothing is sent to a bus that was not seen
 * within the last minute.
 */
export function createEventBridgePublisher(options: EventBridgePublisherOptions): Publisher {
  checkOptions('createEventBridgePublisher', options, ['client', 'busName', 'name', 'clock'])
  const { client, busName, clock = systemClock } = options
  checkClient('client', client, 'EventBridge')
  if (typeof busName !== 'string' || busName === '')
    throw invalidSetting('busName', 'must be the name or the ARN of a bus')
  const { name = busName.slice(busName.lastIndexOf('/') + 1) } = options
  checkDestinationName('name', name)
  const lookAtBus = createBusLook(client, busName, clock)

  const publish = async (messages: readonly OutgoingMessage[], signal?: AbortSignal): Promise<PublishOutcome[]> => {
    const missing = await lookAtBus()
    if (missing !== undefined) return messages.map(() => ({ status: 'failed', reason: missing }))
    const entries = messages.map((message) => eventEntry(busName, message))
    const sendable = entries.filter((entry) => entry !== undefined)
    const outcomes = sendable.length === 0 ? [] : await put(sendable, signal)
    return entries.map((entry) =>
      entry === undefined ? UNLABELLED : (outcomes[sendable.indexOf(entry)] ?? NO_OUTCOME),
    )
  }
  const put = async (entries: readonly Entry[], signal?: AbortSignal): Promise<PublishOutcome[]> => {
    try {
      const command = new PutEventsCommand({ Entries: [...entries] })
      const answer = await client.send(command, signal === undefined ? {} : { abortSignal: signal })
      return entries.map((_, index) => entryOutcome(answer, index))
    } catch (error) {
      if (entries.length > 1 && isAboutOneEntry(error)) return putSingly(entries, signal)
      return entries.map(() => requestOutcome(error))
    }
  }
  // One entry made EventBridge refuse the request as a whole: sent one by one, only that one fails.
  const putSingly = async (entries: readonly Entry[], signal?: AbortSignal): Promise<PublishOutcome[]> => {
    const outcomes: PublishOutcome[] = []
    for (const entry of entries) outcomes.push(...(await put([entry], signal)))
    return outcomes
  }
  return {
    name,
    maxEntries: MAX_REQUEST_ENTRIES,
    maxBytes: MAX_REQUEST_BYTES,
    sizeOf: (message) => entrySize(eventEntry(busName, message) ?? { Detail: message.body }),
    publish,
  }
}

const UNLABELLED: PublishOutcome = {
  status: 'refused',
  reason: 'a bus takes only events with a source and a type; the row has not both, and its body is no CloudEvent',
}
const NO_OUTCOME: PublishOutcome = { status: 'failed', reason: 'the entry is missing in the answer' }
