import type { Consumer } from '../../../src/consumer/consumer.ts'
import type { LocalQueue } from '../../../src/testing/local-queue.ts'
import type { StoredMessage } from '../../../src/testing/queue-state.ts'
import type { Process } from '../model/process.ts'
import { sqsRecord } from '../model/sqs-record.ts'
import type { Stage } from './stage.ts'

const FUNCTION_MS = 30_000
const POLL_MS = 700
const AT_ONCE = 2
const BATCH = 10

/** A consumer's mapping: it polls as long as its queue holds anything, in several invocations at once, each a process. */
export function consume(stage: Stage, queue: LocalQueue, consumerOf: (process: Process) => Consumer): void {
  const { scheduler, spawn, luck, breach } = stage
  let running = 0
  let polls = 0
  let next = Number.POSITIVE_INFINITY

  const poll = (): void => {
    next = Number.POSITIVE_INFINITY
    const messages = running < AT_ONCE ? queue.receive(BATCH) : []
    if (messages.length > 0) invoke(messages)
    plan()
  }
  const plan = (): void => {
    const shows = queue.depth().visible > 0 ? scheduler.now() : queue.nextVisibleAt(scheduler.now())
    const at = (shows ?? Number.POSITIVE_INFINITY) + 1 + Math.floor(luck('poll', queue.name, ++polls) * POLL_MS)
    if (at >= next) return
    next = at
    scheduler.at(at, poll)
  }
  const invoke = (messages: readonly StoredMessage[]): void => {
    running += 1
    const process = spawn('consumer')
    const end = process.clock.now() + FUNCTION_MS
    const cancel = scheduler.in(FUNCTION_MS, () => process.kill('its time is over'))
    const finish = (): void => {
      running -= 1
      cancel()
      plan()
    }
    process.onEnd(finish)
    const event = { Records: messages.map((message) => sqsRecord(message, queue.arn)) }
    const context = { getRemainingTimeInMillis: () => end - process.clock.now() }
    consumerOf(process)(event, context).then(
      ({ batchItemFailures }) => {
        const kept = new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier))
        for (const { messageId, handle = '' } of messages) if (!kept.has(messageId)) queue.delete(handle)
        finish()
      },
      (error) => breach(`the consumer threw ${String(error)}`),
    )
  }
  queue.onChange(plan)
}
