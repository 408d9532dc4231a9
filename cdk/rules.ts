import type { Construct } from 'constructs'
import { OutboxError } from '../src/errors.ts'

/** A combination of settings that does not work, and what to do about it. */
export type Rule<Facts> = {
  readonly broken: (facts: Facts) => boolean
  readonly message: (facts: Facts) => string
}

/** Throws one `INVALID_SETTING` error with the messages of all broken rules. Nothing is synthesised then. */
export function checkRules<Facts>(scope: Construct, facts: Facts, rules: readonly Rule<Facts>[]): void {
  const messages = brokenRules(facts, rules)
  if (messages.length === 0) return
  throw new OutboxError('INVALID_SETTING', `${scope.node.path}: ${messages.join(' ')}`, {
    details: { path: scope.node.path },
  })
}

export function brokenRules<Facts>(facts: Facts, rules: readonly Rule<Facts>[]): readonly string[] {
  return rules.filter(({ broken }) => broken(facts)).map(({ message }) => message(facts))
}

/** The CDK renders the key of a `TableV2` for a Region that it knows. */
const KEY_NEEDS_REGION: Rule<{
  readonly tableGiven: boolean
  readonly keyGiven: boolean
  readonly region: string | undefined
}> = {
  broken: ({ tableGiven, keyGiven, region }) => keyGiven && !tableGiven && region === undefined,
  message: () => 'encryptionKey needs a stack whose Region is known: give the stack an `env` with a region.',
}

/** What is known of an outbox when it is constructed. */
export type OutboxFacts = {
  readonly keyGiven: boolean
  readonly tableGiven: boolean
  readonly streamKnown: boolean
  /** Settings given that concern a table made here. */
  readonly tableSettings: readonly string[]
  readonly keepRelayedSeconds: number | undefined
  /** Undefined if it is known only at deployment. */
  readonly region: string | undefined
  readonly takeOverRegions: readonly string[]
  /** The given table is known to be in another account or Region. */
  readonly elsewhere: boolean
}

export const OUTBOX_RULES: readonly Rule<OutboxFacts>[] = [
  KEY_NEEDS_REGION,
  {
    broken: ({ tableGiven, streamKnown }) => tableGiven && !streamKnown,
    message: () =>
      'The given table has no stream that is known here. Import it with `TableV2.fromTableAttributes({ tableArn, tableStreamArn })`.',
  },
  {
    broken: ({ tableGiven, tableSettings }) => tableGiven && tableSettings.length > 0,
    message: ({ tableSettings }) =>
      `${tableSettings.join(' and ')} cannot be set on a given table. Set it where that table is made.`,
  },
  {
    broken: ({ keepRelayedSeconds }) => !within(keepRelayedSeconds, 86_400, 31_536_000),
    message: ({ keepRelayedSeconds }) => `keepRelayed must be 1 to 365 days; got ${keepRelayedSeconds} seconds.`,
  },
  {
    broken: ({ region, takeOverRegions }) => region !== undefined && takeOverRegions.includes(region),
    message: () => 'takeOverRegions names the Region of this outbox itself. Name only Regions that are lost.',
  },
  {
    broken: ({ elsewhere }) => elsewhere,
    message: () =>
      'The given table is in another account or Region. Put the outbox where its table is; there, of a global table, give the replica.',
  },
]

/** What is known of the routes of an outbox when the app is synthesised. */
export type RoutesFacts = {
  readonly routes: readonly {
    readonly destinations: readonly {
      readonly name: string
      /** Node path or address: two destinations of one name must be one. */
      readonly address: string
      /** Undefined if it is known only at deployment. */
      readonly region: string | undefined
    }[]
    /** `source` or `type` is an empty list. */
    readonly takesNothing: boolean
  }[]
  readonly region: string | undefined
  /** Names and values of the functions' environment; what is known only at deployment is estimated. */
  readonly environmentBytes: number
}

/** Lambda's limit on the environment of a function, names and values together. Bytes. */
export const MAX_ENVIRONMENT_BYTES = 4096

export const ROUTES_RULES: readonly Rule<RoutesFacts>[] = [
  {
    broken: ({ routes }) => routes.length === 0,
    message: () =>
      'The outbox has no route: no row would ever leave it. Give `routes`, or call addRoute or addConsumer.',
  },
  {
    broken: ({ routes }) => routes.some(({ destinations }) => destinations.length === 0),
    message: () => 'A route names no destination. Give at least one queue or event bus.',
  },
  {
    broken: ({ routes }) => routes.some(({ takesNothing }) => takesNothing),
    message: () => 'A route has an empty list of sources or types and takes nothing. Leave the list out to take all.',
  },
  {
    broken: ({ routes }) => allDestinations(routes).some(({ name }) => name.length < 1 || name.length > 64),
    message: () => 'A destination needs a name of 1 to 64 characters. It is recorded in rows: never change it.',
  },
  {
    broken: ({ routes }) => {
      const addresses = new Map(allDestinations(routes).map(({ name, address }) => [name, address]))
      return allDestinations(routes).some(({ name, address }) => addresses.get(name) !== address)
    },
    message: () => 'Two destinations have the same name. Give each one a name of its own.',
  },
  {
    broken: ({ routes, region }) =>
      allDestinations(routes).some((to) => region !== undefined && to.region !== undefined && to.region !== region),
    message: ({ region }) =>
      `A destination is in another Region than the outbox (${region}). Send to a bus in this Region, and let a rule carry the events over.`,
  },
  {
    broken: ({ environmentBytes }) => environmentBytes > MAX_ENVIRONMENT_BYTES,
    message: ({ environmentBytes }) =>
      `The routes need about ${environmentBytes} bytes of environment; Lambda allows ${MAX_ENVIRONMENT_BYTES}. ` +
      'Name fewer sources and types, or send to one event bus and let its rules choose.',
  },
]

function allDestinations(routes: RoutesFacts['routes']) {
  return routes.flatMap(({ destinations }) => destinations)
}

/** What is known of a consumer when it is constructed. Undefined: not known before deployment. */
export type ConsumerFacts = {
  /** A ledger table. */
  readonly tableGiven: boolean
  readonly keyGiven: boolean
  readonly region: string | undefined
  readonly fifo: boolean
  readonly queueGiven: boolean
  /** Settings given that concern a queue made here. */
  readonly queueSettings: readonly string[]
  readonly deadLetterFifo: boolean | undefined
  readonly visibilitySeconds: number | undefined
  readonly timeoutSeconds: number | undefined
  readonly retentionSeconds: number
  readonly deadLetterRetentionSeconds: number
  readonly ledgerDays: number
  readonly maxConcurrency: number | undefined
  readonly batchSize: number
  /** Path of another consumer that this function already serves. */
  readonly otherConsumer: string | undefined
  /** Given tables that are known to be in another account or Region: `outbox`, `ledgerTable`. */
  readonly elsewhere: readonly string[]
}

export const CONSUMER_RULES: readonly Rule<ConsumerFacts>[] = [
  KEY_NEEDS_REGION,
  {
    broken: ({ queueGiven, deadLetterFifo }) => queueGiven && deadLetterFifo === undefined,
    message: () => 'A given queue needs its deadLetterQueue given too.',
  },
  {
    broken: ({ queueGiven, queueSettings }) => queueGiven && queueSettings.length > 0,
    message: ({ queueSettings }) =>
      `${queueSettings.join(' and ')} cannot be set on a given queue. Set it where that queue is made.`,
  },
  {
    broken: ({ fifo, deadLetterFifo }) => deadLetterFifo !== undefined && deadLetterFifo !== fifo,
    message: ({ fifo }) =>
      `The dead-letter queue must be ${fifo ? 'FIFO' : 'standard'}, as the queue is: SQS refuses any other.`,
  },
  {
    broken: ({ ledgerDays, retentionSeconds, deadLetterRetentionSeconds }) =>
      ledgerDays * 86_400 < retentionSeconds + deadLetterRetentionSeconds,
    message: ({ ledgerDays, retentionSeconds, deadLetterRetentionSeconds }) =>
      `The ledger is kept ${ledgerDays} days, less than a message can live in queue and dead-letter queue together ` +
      `(${Math.ceil((retentionSeconds + deadLetterRetentionSeconds) / 86_400)} days): a late delivery would run a handler twice. Raise ledgerRetention.`,
  },
  {
    broken: ({ ledgerDays }) => !within(ledgerDays, 1, 3650) || !Number.isInteger(ledgerDays),
    message: ({ ledgerDays }) => `ledgerRetention must be 1 to 3650 whole days; got ${ledgerDays}.`,
  },
  {
    broken: ({ visibilitySeconds, timeoutSeconds }) =>
      visibilitySeconds !== undefined && timeoutSeconds !== undefined && visibilitySeconds < timeoutSeconds,
    message: ({ visibilitySeconds, timeoutSeconds }) =>
      `visibilityTimeout is ${visibilitySeconds} seconds, less than the function's timeout of ${timeoutSeconds}: Lambda refuses that. ` +
      'Leave it out for six times the timeout.',
  },
  {
    broken: ({ visibilitySeconds }) => !within(visibilitySeconds, 0, 43_200),
    message: ({ visibilitySeconds }) => `visibilityTimeout must be at most 12 hours; got ${visibilitySeconds} seconds.`,
  },
  {
    broken: ({ maxConcurrency = 2 }) => !within(maxConcurrency, 2, 1000) || !Number.isInteger(maxConcurrency),
    message: ({ maxConcurrency }) =>
      `maxConcurrency must be 2 to 1000; got ${maxConcurrency}. Lambda has no mapping with 1: for one at a time, put all events into one group.`,
  },
  {
    broken: ({ batchSize }) => !within(batchSize, 1, 10) || !Number.isInteger(batchSize),
    message: ({ batchSize }) => `batchSize must be 1 to 10; got ${batchSize}.`,
  },
  {
    broken: ({ otherConsumer }) => otherConsumer !== undefined,
    message: ({ otherConsumer }) =>
      `The function already serves ${otherConsumer}, and its environment names one queue. Give each consumer a function of its own.`,
  },
  {
    broken: ({ elsewhere }) => elsewhere.length > 0,
    message: ({ elsewhere }) =>
      `${elsewhere.join(' and ')} must be in the account and Region of the consumer: no transaction spans two.`,
  },
]

function within(value: number | undefined, min: number, max: number): boolean {
  return value === undefined || (value >= min && value <= max)
}
