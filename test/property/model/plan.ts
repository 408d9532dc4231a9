import type { Fault, Outage, Role } from './faults.ts'

/** Everything that a run depends on. Smaller parts make smaller plans: each list may lose any of its members. */
export type Plan = {
  /** All luck: latencies, transactions that last, reads that lag, reasons that are not reported. 0: none of it. */
  readonly seed: number
  readonly chapters: readonly Chapter[]
  readonly faults: readonly Fault[]
  /** How far the clocks of a role's processes are off, seconds. */
  readonly skews: Readonly<Partial<Record<Role, number>>>
  readonly stream: StreamPlan
  /** What a handler does in its first, second … run for one event; which script it is, the event's name decides. */
  readonly scripts: readonly (readonly Act[])[]
  /** How long the second queue refuses what it does not like, seconds from the start of a chapter. */
  readonly refusesFor: number
  /** Of the queues, seconds: 20 is less than a handler may take. */
  readonly visibility: number
  /** Invocations of one consumer at once. */
  readonly concurrency: number
  /** Messages of one batch, 1–10. */
  readonly batch: number
}

export type StreamPlan = {
  readonly shards: number
  /** Share of records that never arrive, and that arrive twice. */
  readonly drops: number
  readonly doubles: number
  readonly shuffled: boolean
}

export type Chapter = {
  readonly steps: readonly Step[]
  readonly outages: readonly Outage[]
  /** How long nothing happens once all is done, seconds; rows that have expired by then are deleted. */
  readonly rest: number
  /** Whether dead rows stay dead, as they do where nobody looks. Never in the last chapter. */
  readonly keepsDead: boolean
}

/** Seconds from the start of the chapter. */
type At = { readonly at: number }

export type EventType = 'one' | 'two' | 'both'

export type Step = At &
  (
    | {
        readonly do: 'auto'
        readonly group: string
        readonly count: number
        readonly type: EventType
        readonly trait?: Trait | undefined
      }
    /** The aggregate's own version, under a condition on the aggregate. */
    | { readonly do: 'numbered'; readonly group: string; readonly count: number; readonly type: EventType }
    /** The aggregate's own version too, one event a commit; but it counts by twos. */
    | { readonly do: 'sparse'; readonly group: string; readonly type: EventType }
    /** A lower number after a higher one, under no condition at all. */
    | { readonly do: 'late'; readonly group: string; readonly type: EventType }
    | {
        readonly do: 'keyed'
        readonly key: string
        /** Other content is a conflict. */
        readonly content: number
        readonly type: EventType
        readonly onExisting: 'cancel' | 'commit'
        readonly trait?: Trait | undefined
      }
    /** Its own condition fails: nothing of it may ever be seen. */
    | { readonly do: 'doomed'; readonly key: string }
    /** Does its work once, whatever runs it again: its event is what makes it idempotent. */
    | { readonly do: 'job'; readonly key: string }
    /** Often far more than fits into a few requests. */
    | { readonly do: 'many'; readonly key: string; readonly count: number }
    /** More than is read at a time, the first for two queues and all others for one. */
    | { readonly do: 'mixed'; readonly group: string }
    /** A long tail of a group, of which the stream says nothing; `sparse`: numbered by twos. */
    | { readonly do: 'flood'; readonly group: string; readonly sparse: boolean }
    | { readonly do: 'redrive-rows' }
    | { readonly do: 'redrive-messages' }
    | { readonly do: 'redrive-by-hand' }
    /** The stream's records come again from the horizon. */
    | { readonly do: 'replay-stream' }
    /** Somebody kept a message and sends it again. */
    | { readonly do: 'send-again' }
    | { readonly do: 'foreign-region'; readonly key: string }
  )

/** `follow`: its handler commits a follow-up event. `refused`: the second queue does not take its content yet. */
export type Trait = 'follow' | 'refused' | 'malformed'

export type Act =
  | 'ok'
  | 'throw'
  | 'permanent'
  | 'busy'
  | 'hang'
  | 'die'
  | 'slow'
  | 'commit-throw'
  | 'commit-swallow'
  | 'commit-unawaited'
  | 'commit-late'
  | 'commit-after'
  | 'own-condition'

export const MAX_ATTEMPTS = 3

/** Where events of a type go, and who handles them there. */
export const ROUTES: Readonly<Record<string, readonly string[]>> = {
  one: ['q1.fifo'],
  two: ['q2.fifo'],
  both: ['q1.fifo', 'q2.fifo'],
  follow: ['q2.fifo'],
}

export const CONSUMERS = [
  { name: 'a', queue: 'q1.fifo' },
  { name: 'b', queue: 'q2.fifo' },
] as const

/** Each consumer has both for every type. */
export const HANDLERS = ['commit', 'plain'] as const
