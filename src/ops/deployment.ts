import type { SystemEntry } from '../system-parameter.ts'

/** What is deployed, as plain data: what `checkDeployment` looks at. A resource that is not there is undefined. */
export type Deployment = {
  /** ms: for dates of runtimes and the age of the sweeper's last run. */
  readonly now: number
  readonly region: string
  readonly names: SystemEntry
  readonly outboxTable: TableFacts | undefined
  readonly relay: FunctionFacts | undefined
  readonly sweeper: FunctionFacts | undefined
  /** Mappings that feed the relay. */
  readonly relayMappings: readonly MappingFacts[]
  /** When the sweeper of this Region last ran, ms. */
  readonly sweptAt: number | undefined
  readonly consumers: readonly ConsumerFacts[]
  readonly alarms: readonly AlarmFacts[]
}

export type ConsumerFacts = {
  readonly name: string
  readonly handlerName: string
  readonly queueUrl: string
  readonly deadLetterQueueUrl: string
  readonly ledgerName: string
  readonly queue: QueueFacts | undefined
  readonly deadLetterQueue: QueueFacts | undefined
  readonly handler: FunctionFacts | undefined
  readonly ledger: TableFacts | undefined
  /** Mappings that feed the handler. */
  readonly mappings: readonly MappingFacts[]
}

export type TableFacts = {
  readonly name: string
  /** Names and types, as `pk:S`. */
  readonly keys: readonly string[]
  /** The attribute rows expire by, if that is on. */
  readonly timeToLive: string | undefined
  readonly streamArn: string | undefined
  readonly streamView: string | undefined
  readonly indexes: readonly {
    readonly name: string
    readonly keys: readonly string[]
    readonly includes: readonly string[]
  }[]
  /** Multi-Region strong consistency: such tables have no transactions. */
  readonly stronglyConsistentReplicas: boolean
}

export type FunctionFacts = {
  readonly name: string
  readonly arn: string
  readonly runtime: string
  readonly timeoutSeconds: number
  /** Only the variables of ours. */
  readonly environment: Readonly<Record<string, string | undefined>>
}

export type MappingFacts = {
  readonly id: string
  readonly sourceArn: string
  /** `Enabled`, `Disabled`, or on the way. */
  readonly state: string
  readonly startingPosition: string | undefined
  readonly reportsFailures: boolean
  readonly bisects: boolean
  /** -1: without end. */
  readonly retries: number | undefined
  readonly maxAgeSeconds: number | undefined
  readonly filters: readonly string[]
}

export type QueueFacts = {
  readonly url: string
  readonly arn: string
  readonly fifo: boolean
  readonly deduplicationScope: string | undefined
  readonly throughputLimit: string | undefined
  readonly visibilitySeconds: number
  readonly retentionSeconds: number
  readonly redrive: { readonly targetArn: string; readonly maxReceiveCount: number } | undefined
}

export type AlarmFacts = {
  readonly name: string
  readonly metric: string
  /** Values of its dimensions. */
  readonly of: readonly string[]
}

/** Something that is not as this version needs it. */
export type Finding = {
  /** `error`: events are late, lost to the eye, or handled wrongly. `warning`: all works, but less well or not for long. */
  readonly severity: 'error' | 'warning'
  readonly resource: string
  readonly wrong: string
  /** What comes of it. */
  readonly effect: string
  /** Where it is set in CDK. */
  readonly property: string
  /** The command that mends it. */
  readonly command: string
  /** What `--fix` does; absent where AWS does not change it in place. */
  readonly fix?: Fix
}

/** One change in place. It names only what is changed: all that operators have set beside it stays. */
export type Fix =
  | { readonly kind: 'time-to-live'; readonly table: string; readonly attribute: string }
  | { readonly kind: 'mapping'; readonly id: string; readonly change: MappingChange }
  | { readonly kind: 'queue'; readonly url: string; readonly attributes: Readonly<Record<string, string>> }

export type MappingChange = {
  readonly Enabled?: boolean
  readonly FunctionResponseTypes?: ['ReportBatchItemFailures']
  readonly BisectBatchOnFunctionError?: boolean
  readonly MaximumRetryAttempts?: number
  readonly MaximumRecordAgeInSeconds?: number
  readonly FilterCriteria?: { readonly Filters: { readonly Pattern: string }[] }
}
