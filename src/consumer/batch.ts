import { retryBackoff } from '../backoff.ts'
import { errorName } from '../errors.ts'
import { eachAtOnce } from '../pool.ts'
import { type Delivery, type DeliveryDependencies, type DeliveryOutcome, deliver } from './delivery.ts'
import type { Invocation } from './invocation.ts'
import type { Message } from './message.ts'

/** Groups run at once. A FIFO batch never holds more than ten; a batch of a standard queue may hold thousands. */
const MAX_CONCURRENT_GROUPS = 50

export type Batch = {
  /** In the order given. */
  readonly messages: readonly Message[]
  /** Messages whose handle the queue refused: not ours any more, so not run. */
  readonly lost: ReadonlySet<Message>
  readonly invocation: Invocation
}

/** A message to keep in the queue. */
export type Unsettled = {
  readonly message: Message
  /** When it should be visible again, ms since 1970; undefined: leave its visibility alone. */
  readonly due: number | undefined
}

type Parked = { readonly rest: readonly Message[]; readonly crashes: number }

/**
 * Runs a batch: groups at once, the messages of one in turn. After a message that is not settled nothing later of its
 * group runs, and all of it is kept. Claims that lapsed run last, one at a time, with nothing beside them: a crash there
 * is known to be their own. Answers what to keep; everything else is settled.
 */
export async function runBatch(dependencies: DeliveryDependencies, batch: Batch): Promise<readonly Unsettled[]> {
  const unsettled: Unsettled[] = []
  const parked: Parked[] = []

  const runGroup = async (messages: readonly Message[], alone: boolean): Promise<void> => {
    for (const [n, message] of messages.entries()) {
      const rest = messages.slice(n)
      const outcome = await deliverIfOurs(dependencies, batch, { message, alone })
      if (outcome.status === 'settled') continue
      if (outcome.status === 'wait-alone') {
        parked.push({ rest, crashes: outcome.crashes })
        batch.invocation.reserveAlone()
      } else unsettled.push(...rest.map((kept) => ({ message: kept, due: dueOf(kept, outcome.due) })))
      return
    }
  }
  const dueOf = (message: Message, due: number): number | undefined => (batch.lost.has(message) ? undefined : due)

  await eachAtOnce(groupsOf(batch.messages), MAX_CONCURRENT_GROUPS, (group) => runGroup(group, false))
  // Those that crashed the process before come last: their neighbours need not wait for them.
  const turns = parked.splice(0).sort((one, other) => one.crashes - other.crashes)
  for (const { rest } of turns) await runGroup(rest, true)
  return unsettled
}

/** What nobody foresaw (a ledger of somebody's own that throws) keeps this message, and does not touch the others. */
async function deliverIfOurs(
  dependencies: DeliveryDependencies,
  { lost, invocation }: Batch,
  { message, alone }: Pick<Delivery, 'message' | 'alone'>,
): Promise<DeliveryOutcome> {
  const { clock, logger } = dependencies
  if (lost.has(message)) return { status: 'unsettled', due: clock.now() }
  try {
    return await deliver(dependencies, { message, invocation, alone })
  } catch (error) {
    logger.error('delivery broke off; the message stays in the queue', { eventId: message.id, error: errorName(error) })
    return { status: 'unsettled', due: clock.now() + retryBackoff(message.receiveCount) * 1000 }
  }
}

/** In order of their first messages. */
function groupsOf(messages: readonly Message[]): readonly (readonly Message[])[] {
  return [...Map.groupBy(messages, ({ group }) => group).values()]
}
