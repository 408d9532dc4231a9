import { type Consumer, createConsumer } from '../../../src/consumer/consumer.ts'
import { createSqsQueue } from '../../../src/consumer/sqs-queue.ts'
import { decodeBody } from '../../../src/event/codec.ts'
import { createLedger } from '../../../src/ledger/dynamo-ledger.ts'
import { createOutbox } from '../../../src/outbox/create-outbox.ts'
import type { StoredMessage } from '../../../src/testing/queue-state.ts'
import { createHandlers } from './handlers.ts'
import { CONSUMERS } from './plan.ts'
import type { Process } from './process.ts'
import { sqsRecord } from './sqs-record.ts'
import { REGION, silent, type World } from './world.ts'

const FUNCTION_MS = 30_000
const POLL_MS = 700
/** A lease, and some invocations of others before its turn comes. ms */
const LONGEST_RETURN_MS = 300_000

/** A consumer and its mapping: it polls as long as the queue holds anything, in several invocations at once. */
export function startConsumers(world: World): void {
  for (const consumer of CONSUMERS) startConsumer(world, consumer)
}

type Named = { readonly name: string; readonly queue: string }

function startConsumer(world: World, { name, queue: queueName }: Named): void {
  const { scheduler, plan, luck, books } = world
  const queue = world.queue(queueName)
  let running = 0
  let polls = 0
  let next = Number.POSITIVE_INFINITY
  let unplan = (): void => {}

  const poll = (): void => {
    next = Number.POSITIVE_INFINITY
    const room = running < (world.isCalm() ? 3 : plan.concurrency)
    const messages = room ? queue.receive(world.isCalm() ? 10 : plan.batch) : []
    for (const { messageId } of messages) checkReturn(messageId)
    if (messages.length > 0) invoke(messages)
    const shows = queue.depth().visible > 0 ? scheduler.now() : queue.nextVisibleAt(scheduler.now())
    if (shows !== undefined) pollAt(shows)
  }
  const pollAt = (time: number): void => {
    const at = Math.max(time, scheduler.now()) + 1 + Math.floor(luck('poll', name, ++polls) * POLL_MS)
    if (at >= next) return
    unplan()
    next = at
    unplan = scheduler.at(at, poll)
  }
  /** What a dead process had comes back soon after its claims have lapsed, not after the queue's own long time. */
  const abandoned = new Map<string, number>()
  const checkReturn = (messageId: string): void => {
    const died = abandoned.get(messageId)
    abandoned.delete(messageId)
    if (died !== undefined && scheduler.now() - died > LONGEST_RETURN_MS)
      books.breach(
        `a message of ${name} comes back ${Math.round((scheduler.now() - died) / 1000)} s after its process died`,
      )
  }
  const invoke = (messages: readonly StoredMessage[]): void => {
    running += 1
    const process = world.spawn('consumer')
    const consumer = consumerOf(world, process, { name, queue: queueName })
    const end = process.clock.now() + FUNCTION_MS
    let ended = false
    const finish = (): void => {
      if (ended) return
      ended = true
      running -= 1
      cancel()
    }
    // A process that stands still is replaced, not ended: once it moves again it goes on where it was.
    const cancel = scheduler.in(FUNCTION_MS, () => (process.isFrozen() ? finish() : process.kill('its time is over')))
    process.onEnd(() => {
      finish()
      if (world.wire.met(process).some((met) => !HARMLESS.test(met) || met.endsWith('VisibilityBatch'))) return
      for (const messageId of firstOfGroups(messages)) abandoned.set(messageId, scheduler.now())
    })
    const Records = messages.map((message) => sqsRecord(message, queue.arn))
    // As they are now: whoever receives a message later has another handle for it.
    const bodies = new Map(Records.map(({ receiptHandle, body }) => [receiptHandle, body]))
    world.sqs.onLost(process, (handle) => noteLost(world, process, { bodies, handle }))
    consumer({ Records }, { getRemainingTimeInMillis: () => end - process.clock.now() }).then(
      ({ batchItemFailures }) => {
        if (ended) return
        checkLeftovers(world, process)
        if (world.wire.isOutOfReach(process)) world.noteCrashes(process)
        const kept = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
        for (const { messageId, receiptHandle } of Records) if (!kept.has(messageId)) queue.delete(receiptHandle)
        finish()
        pollAt(scheduler.now())
      },
      (error) => books.breach(`consumer ${name} threw ${String(error)}`),
    )
  }
  queue.onChange(() =>
    pollAt(queue.depth().visible > 0 ? scheduler.now() : (queue.nextVisibleAt(scheduler.now()) ?? scheduler.now())),
  )
}

/** The others of a group wait for these, however long. */
function firstOfGroups(messages: readonly StoredMessage[]): string[] {
  const groups = Map.groupBy(messages, ({ groupId }) => groupId)
  return [...groups.values()].flatMap(([first]) => (first === undefined ? [] : [first.messageId]))
}

/** A process that answers has given back or ended all that it has claimed, unless its ledger was out of reach. */
function checkLeftovers({ ledger, books, wire, story }: World, process: Process): void {
  const troubles = wire.met(process).filter((met) => !HARMLESS.test(met))
  const hasLuck = wire.met(process).filter((met) => met === 'partial BatchExecuteStatement').length <= 1
  // A statement that was applied and called a failure is refused the next time: then the read after it is all that tells.
  const isBlind = ['partial BatchExecuteStatement', 'BatchGetItem'].every((end) =>
    wire.met(process).some((met) => met.endsWith(end)),
  )
  if (troubles.length > 0 || !hasLuck || isBlind) return
  for (const { token, status, pk, sk } of ledger.items())
    if (process.owns(token?.S ?? '') && (status?.S === 'running' || status?.S === 'alone'))
      books.breach(`${process.name} answered, and leaves ${story.nameOf(pk?.S ?? '')} ${sk?.S} ${status.S}`)
}

/** What may befall a process without its ledger being out of reach: a statement that fails is sent again. */
const HARMLESS =
  /^partial |^(dropped|lost|retried|throttled|denied|outage) (SendMessage|ChangeMessageVisibilityBatch|Effect|BatchGetItem)$/

/** The queue has told a process that a handle is no longer valid: what it has of that message it must not run. */
function noteLost(
  { lost }: World,
  process: Process,
  { bodies, handle }: { readonly bodies: ReadonlyMap<string, string>; readonly handle: string },
): void {
  const body = bodies.get(handle) ?? ''
  const decoded = decodeBody(body)
  if (!decoded.ok || [...bodies.values()].filter((other) => other === body).length > 1) return
  lost.set(process, new Set([...(lost.get(process) ?? []), decoded.event.id]))
}

function consumerOf(world: World, process: Process, { name, queue }: Named): Consumer {
  const { clock } = process
  const client = world.dynamo.clientFor(process)
  const urls = { queueUrl: world.queue(queue).url, deadLetterQueueUrl: world.queue(queue.replace('.', '-dead.')).url }
  return createConsumer({
    name,
    clock,
    logger: silent,
    ledger: createLedger({ client, tableName: 'ledger', clock }),
    outbox: createOutbox({ client, tableName: 'outbox', clock, region: REGION }),
    queue: createSqsQueue({ client: world.sqs.clientFor(process), ...urls }),
    handlers: createHandlers(world, process, name),
  })
}
