import type { SQSClient } from '@aws-sdk/client-sqs'
import type { Clock } from '../../../../src/clock.ts'
import { createDeduplicationWindow, deduplicationId, deduplicationKey } from '../../../../src/testing/deduplication.ts'
import type { LocalQueue } from '../../../../src/testing/local-queue.ts'
import { failedEntry, MESSAGE_ACTIONS, type SqsInput } from '../../../../src/testing/sqs-actions.ts'
import { acceptEntry, createQueueRegistry, md5 } from '../../../../src/testing/sqs-registry.ts'
import { entryFault, fault, type SqsFault, sendBatchFault, type WireEntry } from '../../../../src/testing/sqs-rules.ts'
import { awsError } from '../faults.ts'
import type { Process } from '../process.ts'
import type { Wire } from '../wire.ts'
import { abortable } from './abortable.ts'

/** `isNew`: no duplicate within the five minutes. */
export type Accepted = {
  readonly queue: string
  readonly entry: WireEntry
  readonly isNew: boolean
  /** Who sent it; undefined: somebody else. */
  readonly by: Process | undefined
}

export type ModelSqs = {
  readonly create: (name: string, attributes: Readonly<Record<string, string>>) => LocalQueue
  readonly clientFor: (process: Process) => SQSClient
  /** Tells a process's listener of handles that a queue refused, when their answer arrives. */
  readonly onLost: (process: Process, listener: (handle: string) => void) => void
  /** Puts a message in as somebody else would, past the wire. */
  readonly put: (queue: string, entry: WireEntry) => Promise<object>
}

export type ModelSqsOptions = {
  readonly clock: Clock
  readonly luck: (...parts: readonly (string | number)[]) => number
  readonly wire: Wire
  /** Content that a queue refuses for now. */
  readonly refuses: (queue: string, entry: WireEntry) => SqsFault | undefined
  /** Told of every entry that is accepted, duplicates included. */
  readonly onAccept: (accepted: Accepted) => void
  /** Told of a batch as its request is made. */
  readonly onSend: (process: Process, entries: readonly WireEntry[]) => void
  /** Told of a request with two entries of one group: the second may be taken, and the first not. */
  readonly onTwice: (queue: string) => void
  /** Told of the entries of a request that was refused as a whole for another one of its entries. */
  readonly onSpoilt?: (by: Process | undefined, queue: string, entries: readonly WireEntry[]) => void
  /** Told of every entry of a batch that was not taken, though others of it may have been. */
  readonly onRefuse: (entry: Pick<Accepted, 'queue' | 'entry' | 'by'>) => void
  readonly describe: (op: string, input: unknown) => (() => string) | undefined
}

type Part = ((part: number) => number) | undefined
type Input = Omit<SqsInput, 'Entries'> & Partial<WireEntry> & { readonly Entries?: readonly WireEntry[] }
type Command = { readonly constructor: { readonly name: string }; readonly input: Input }

/** SQS in memory, as its own commands: the strict rules and queues of the test kit behind the wire. */
export function createModelSqs(options: ModelSqsOptions): ModelSqs {
  const { clock, luck, wire, refuses, onAccept, onRefuse, onSend, onTwice, onSpoilt, describe } = options
  const registry = createQueueRegistry(clock)
  const known = createDeduplicationWindow<object>()
  let sequence = 0
  const losses = new Map<Process, (handle: string) => void>()
  let author: Process | undefined

  const accept = (queue: LocalQueue, entry: WireEntry): object => {
    const id = deduplicationId(entry, queue.rules())
    const key = id === undefined ? undefined : `${queue.name} ${deduplicationKey(id, entry, queue.rules())}`
    const duplicate = key === undefined ? undefined : known.get(key, clock.now())
    onAccept({ queue: queue.name, entry, isNew: duplicate === undefined, by: author })
    if (duplicate !== undefined) return duplicate
    sequence += 1
    const messageId = `m-${sequence}`
    const answer = { MessageId: messageId, MD5OfMessageBody: md5(entry.MessageBody) }
    if (key !== undefined) known.set(key, answer, clock.now())
    acceptEntry(queue, entry, {
      messageId,
      sequenceNumber: String(sequence).padStart(20, '0'),
      ...(id === undefined ? {} : { deduplicationId: id }),
    })
    return answer
  }
  const faultOf = (queue: LocalQueue, entry: WireEntry): SqsFault | undefined =>
    entryFault(entry, queue.rules()) ?? refuses(queue.name, entry)

  const send = (queue: LocalQueue, input: Input): object => {
    const entry = { ...input, Id: 'single', MessageBody: input.MessageBody ?? '' }
    const refused = faultOf(queue, entry)
    if (refused !== undefined) throw thrown(refused)
    return accept(queue, entry)
  }
  const sendBatch = (queue: LocalQueue, { Entries = [] }: Input, partial: Part): object => {
    const whole = sendBatchFault(Entries)
    if (whole !== undefined) throw thrown(whole)
    const groups = Entries.map(({ MessageGroupId }) => MessageGroupId)
    if (new Set(groups).size < groups.length) onTwice(queue.name)
    // Some faults of one entry SQS answers for the whole request, and takes none of it: which ones, the plan decides.
    const bad = Entries.map((entry) => refuses(queue.name, entry)).find((found) => found !== undefined)
    if (bad !== undefined && luck('whole', queue.name) < 0.5) {
      const innocent = Entries.filter((entry) => faultOf(queue, entry) === undefined)
      onSpoilt?.(author, queue.name, innocent)
      throw thrown(bad)
    }
    const Successful: object[] = []
    const Failed: object[] = []
    for (const [n, entry] of Entries.entries()) {
      const luck = partial?.(n) ?? 1
      if (luck < 0.2) Failed.push(failedEntry(entry.Id, fault('InternalError', 'try again', false)))
      // In neither list, and nobody can know whether it was taken.
      if (luck < 0.3) {
        onRefuse({ queue: queue.name, entry, by: author })
        continue
      }
      const refused = faultOf(queue, entry)
      const answer = refused === undefined ? { Id: entry.Id, ...accept(queue, entry) } : undefined
      if (luck < 0.4) continue
      if (answer !== undefined) Successful.push(answer)
      else if (refused !== undefined) Failed.push(failedEntry(entry.Id, refused))
    }
    return { Successful, Failed }
  }
  const others = async (queue: LocalQueue, op: string, input: Input, partial: Part): Promise<object> => {
    if (op === 'GetQueueAttributes') return { Attributes: depthOf(queue) }
    const action = MESSAGE_ACTIONS[op]
    if (action === undefined) throw new Error(`The model of SQS does not know ${op}`)
    const all = input.Entries ?? []
    const kept = all.filter((_, n) => (partial?.(n) ?? 1) >= 0.4)
    const answer =
      all.length > 0 && kept.length === 0
        ? { body: {} }
        : await action(queue, all.length > 0 ? { ...input, Entries: kept } : input, clock)
    if ('fault' in answer) throw thrown(answer.fault)
    const failed = all.filter((entry) => !kept.includes(entry))
    if (failed.length === 0) return answer.body
    const { Failed = [], ...body } = answer.body as { Failed?: object[] }
    return {
      ...body,
      Failed: [...Failed, ...failed.map(({ Id }) => failedEntry(Id, fault('InternalError', '', false)))],
    }
  }
  const execute = async (queue: LocalQueue, { op, input, partial }: { op: string; input: Input; partial: Part }) => {
    if (op === 'SendMessage') return send(queue, input)
    return op === 'SendMessageBatch' ? sendBatch(queue, input, partial) : others(queue, op, input, partial)
  }

  return {
    create: (name, attributes) => registry.create(name, 'http://sqs.invalid', attributes),
    onLost: (process, listener) => void losses.set(process, listener),
    put: async (name, entry) => {
      const queue = registry.find(name)
      if (queue === undefined) throw awsError('QueueDoesNotExist')
      return accept(queue, entry)
    },
    clientFor: (process) => {
      const sendCommand = (command: Command, given?: { readonly abortSignal?: AbortSignal }): Promise<object> => {
        const op = command.constructor.name.replace(/Command$/, '')
        const { input } = command
        if (op === 'SendMessageBatch') onSend(process, input.Entries ?? [])
        const target = input.QueueUrl?.split('/').at(-1) ?? ''
        const apply = (partial: Part): Promise<object> => {
          const queue = registry.find(input.QueueUrl)
          if (queue === undefined) throw awsError('QueueDoesNotExist')
          author = process
          const answer = execute(queue, { op, input, partial })
          author = undefined
          return answer
        }
        const request = { service: 'sqs', target, op, about: describe(op, input), apply } as const
        const answer = abortable(() => wire.call(process, request), given)
        if (op !== 'ChangeMessageVisibilityBatch') return answer
        return answer.then((answered) => {
          for (const handle of refusedHandles(answered, input)) losses.get(process)?.(handle)
          return answered
        })
      }
      return { send: sendCommand, config: { serviceId: 'SQS' } } as unknown as SQSClient
    },
  }
}

function refusedHandles(answered: object, { Entries = [] }: Input): string[] {
  const { Failed = [] } = answered as { Failed?: readonly { Id: string; Code: string }[] }
  const ids = new Set(Failed.filter(({ Code }) => Code !== 'InternalError').map(({ Id }) => Id))
  return (Entries as readonly { Id: string; ReceiptHandle?: string }[]).flatMap(({ Id, ReceiptHandle = '' }) =>
    ids.has(Id) ? [ReceiptHandle] : [],
  )
}

function depthOf(queue: LocalQueue): Record<string, string> {
  const { visible, invisible } = queue.depth()
  return { ApproximateNumberOfMessages: `${visible}`, ApproximateNumberOfMessagesNotVisible: `${invisible}` }
}

function thrown({ code, message }: SqsFault): Error {
  return Object.assign(awsError(code), { message })
}
