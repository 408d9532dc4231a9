import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import type { Backoff } from '../backoff.ts'
import { checkBackoff, checkShortName } from '../checks.ts'
import type { Clock } from '../clock.ts'
import { checkName } from '../event/grammar.ts'
import { checkOptions, inRange, RANGES } from '../settings.ts'
import { type Logger, type Telemetry, unfailing } from '../telemetry.ts'
import { createPuller, type Puller } from './create-puller.ts'
import { createDynamoPullStore } from './dynamo-pull-store.ts'
import { createLook } from './pull-look.ts'

export type PullOptions = {
  /** The source whose events are taken; others are never seen. */
  readonly source: string
  /** 1–64 letters, digits, `.`, `_` and `-`: stored with each claim, so that a row shows who holds it. */
  readonly workerId: string
  /** How long a claim holds. 1–3600 seconds, default 60: longer than the work on one event takes. */
  readonly leaseSeconds?: number
  /**
   * Claims that may fail or lapse before an event is dead-lettered. 1–100, default 20: below `runPullWorker` more than the
   * attempts of each handler, since a claim can lapse through no fault of the event's.
   */
  readonly maxClaims?: number
  /** Delay after a failure, by `claims`. 0–86400 seconds each; default 5, doubling, up to 300. */
  readonly backoff?: Partial<Backoff>
  /** Default: JSON lines on the console. */
  readonly logger?: Logger
  /** Default: none. */
  readonly telemetry?: Telemetry
}

/** What `createOutbox` knows already. */
export type PullSurroundings = {
  readonly client: DynamoDBClient
  readonly tableName: string
  readonly clock: Clock
  readonly region: () => Promise<string>
  readonly isCollecting: () => boolean
}

const OPTIONS: readonly (keyof PullOptions)[] = [
  'source',
  'workerId',
  'leaseSeconds',
  'maxClaims',
  'backoff',
  'logger',
  'telemetry',
]

/** A puller on the table. Throws `INVALID_SETTING` or `INVALID_EVENT` for what would fail at the first claim. */
export function openPuller(around: PullSurroundings, options: PullOptions): Puller {
  checkOptions('pull', options, OPTIONS)
  const { client, tableName, clock } = around
  const source = checkName('source', options.source, 'source')
  const store = createDynamoPullStore(client, tableName)
  return createPuller({
    ...around,
    store,
    look: createLook(store, source, clock.random()),
    ...unfailing(options),
    source,
    workerId: checkShortName('workerId', options.workerId),
    leaseMs: inRange('leaseSeconds', options.leaseSeconds, RANGES.leaseSeconds) * 1000,
    maxClaims: inRange('maxClaims', options.maxClaims, RANGES.maxClaims),
    backoff: checkBackoff(options.backoff),
  })
}
