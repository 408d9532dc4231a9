import { AsyncLocalStorage } from 'node:async_hooks'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Clock, systemClock } from '../clock.ts'
import type { NewEvent } from '../event/event.ts'
import { checkClient, checkOptions, invalidSetting } from '../settings.ts'
import type { DeliveryKind } from './build-row.ts'
import type { AttributeWrite, ClientChoice, ClientWrite, DocumentWrite, SendTransaction } from './client-write.ts'
import { type Collector, gather } from './collect.ts'
import type { CommitRequest, Committer, EnqueuedEvent, OnExisting } from './commit.ts'
import { commitTransaction } from './commit-transaction.ts'
import type { Puller } from './create-puller.ts'
import { openPuller, type PullOptions } from './dynamo-pull.ts'
import { createSession } from './dynamo-session.ts'
import { outcomeError } from './outcome-error.ts'

export type OutboxOptions = ClientChoice & {
  /** The outbox table. */
  readonly tableName: string
  /** Region written to the rows. Default: the client's. */
  readonly region?: string
  /**
   * Who takes the rows. Default `relay`: relay and sweeper send them to queues and buses. `pull`: processes take them from
   * the table by {@link Outbox.pull}. One group belongs to one of the two.
   */
  readonly delivery?: DeliveryKind
  /** Default: the machine's. */
  readonly clock?: Clock
  /** Called once per transaction with events: the current `traceparent` of W3C Trace Context. A header of the event's own wins. */
  readonly traceparent?: () => string | undefined
}

export type TransactOptions = {
  /**
   * What happens if a keyed event of the call is stored already with equal type and data. Default `cancel`: nothing is
   * written twice, the event is the idempotency key. `commit`: the writes and the new events are committed without it.
   */
  readonly onExisting?: OnExisting
  /** `ClientRequestToken` of the first request, 1–36 characters. Default: a random one. Keyed events make a call idempotent for longer. */
  readonly token?: string
  /** For a framework that owns the call: sends the input as it is. Default: the outbox's client. */
  readonly send?: SendTransaction
}

export type TransactResult = {
  /** True: an earlier call did this work, and nothing was written now. */
  readonly duplicate: boolean
  /** One for each event, in order. */
  readonly events: readonly EnqueuedEvent[]
}

/** Writes data and events in one DynamoDB transaction. `Write` is one action in the form of the client given. */
export type Outbox<Write = ClientWrite> = Committer & {
  /**
   * Commits your own actions and the events together, or neither. Conflicts and throttles are retried for about 5 s.
   * Rejects with `INVALID_EVENT`, `INVALID_TRANSACTION`, `EVENT_CONFLICT`, `CONDITION_FAILED` (index and old item in
   * `details`), `TRANSACTION_BUSY`, `UNAVAILABLE`: nothing was written; or `OUTCOME_UNKNOWN`: it may have been.
   */
  transact(
    transaction: { readonly writes?: readonly Write[]; readonly events?: readonly NewEvent[] } & TransactOptions,
  ): Promise<TransactResult>
  /**
   * Runs `work`, which adds actions and events, then commits them all as {@link Outbox.transact} does. If `work` throws,
   * nothing is sent. The events are checked, and their data is read, at the end.
   */
  collect<Result>(
    work: (tx: Collector<Write>) => Promise<Result> | Result,
    options?: TransactOptions,
  ): Promise<TransactResult & { readonly result: Result }>
  /** A worker's hand on the rows of one source. Only with `delivery: 'pull'`; throws `INVALID_SETTING` for wrong options. */
  pull(options: PullOptions): Puller
}

const OPTIONS: readonly (keyof OutboxOptions)[] = [
  'client',
  'documentClient',
  'tableName',
  'region',
  'delivery',
  'clock',
  'traceparent',
]

/**
 * The write path. Say which client it is: with `documentClient`, items are native values under its own options; with
 * `client`, AttributeValues. Throws `INVALID_SETTING` for options it does not know.
 */
export function createOutbox(options: OutboxOptions & { readonly client: object }): Outbox<AttributeWrite>
export function createOutbox(options: OutboxOptions & { readonly documentClient: object }): Outbox<DocumentWrite>
export function createOutbox(options: OutboxOptions): Outbox {
  checkOptions('createOutbox', options, OPTIONS)
  const { tableName, region, delivery = 'relay', clock = systemClock, traceparent } = options
  if (typeof tableName !== 'string' || tableName === '')
    throw invalidSetting('tableName', 'must be the name of the outbox table')
  // No relay would ever take rows of a Region without a name, and nobody would be told.
  if (region !== undefined && (typeof region !== 'string' || region === ''))
    throw invalidSetting('region', "must be the name of a Region, or left out for the client's")
  if (delivery !== 'relay' && delivery !== 'pull') throw invalidSetting('delivery', 'must be "relay" or "pull"')
  const outbox = {
    tableName,
    delivery,
    ...(region === undefined ? {} : { region }),
    ...(traceparent === undefined ? {} : { traceparent }),
  }
  const choice = checkChoice(options)
  const session = createSession(choice)
  const collecting = new AsyncLocalStorage<true>()
  const commit = (request: CommitRequest) => commitTransaction({ session, clock, outbox }, request)
  const transact: Outbox['transact'] = async (transaction) => {
    checkOptions('transact', transaction, ['writes', 'events', 'onExisting', 'token', 'send'])
    const { writes = [], events = [], onExisting = 'cancel', ...rest } = transaction
    const outcome = await commit({ writes, events, onExisting, ...rest })
    if (outcome.status !== 'committed' && outcome.status !== 'duplicate') throw outcomeError(outcome)
    return { duplicate: outcome.status === 'duplicate', events: outcome.events }
  }
  return {
    kind: session.kind,
    commit,
    transact,
    collect: async (work, transactOptions = {}) => {
      checkOptions('collect', transactOptions, ['onExisting', 'token', 'send'])
      const { result, ...gathered } = await collecting.run(true, () => gather(work))
      return { ...(await transact({ ...transactOptions, ...gathered })), result }
    },
    pull: (pullOptions) => {
      if (delivery !== 'pull') throw invalidSetting('delivery', 'must be "pull" in createOutbox for a pull worker')
      return openPuller(
        {
          // A document client sends the plain client's commands too, as they are.
          client: (choice.client ?? choice.documentClient) as DynamoDBClient,
          tableName,
          clock,
          region: async () => region ?? (await session.region()),
          isCollecting: () => collecting.getStore() === true,
        },
        pullOptions,
      )
    },
  }
}

/** The same engine for a ledger without an outbox: guards and the caller's writes, no events. */
export function createCommitter(options: ClientChoice & { readonly clock?: Clock }): Committer {
  checkOptions('createCommitter', options, ['client', 'documentClient', 'clock'])
  const session = createSession(checkChoice(options))
  const { clock = systemClock } = options
  return { kind: session.kind, commit: (request) => commitTransaction({ session, clock }, request) }
}

function checkChoice(choice: ClientChoice): ClientChoice {
  if ((choice.client === undefined) === (choice.documentClient === undefined))
    throw invalidSetting('client, documentClient', 'must be given, one of them and not both')
  const [kind, client] =
    choice.client === undefined ? ['documentClient', choice.documentClient] : ['client', choice.client]
  checkClient(kind, client, 'DynamoDB')
  return choice
}
