import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type Clock, systemClock } from '../clock.ts'
import { KEEP_RELAYED_SECONDS } from '../outbox/row.ts'
import { checkClient, checkOptions, inRange, invalidSetting } from '../settings.ts'
import { type Logger, type Telemetry, unfailing } from '../telemetry.ts'
import { createDynamoRowStore } from './dynamo-row-store.ts'
import { compileRoutes, type Route } from './routes.ts'
import type { RelayDeps } from './run.ts'

/** The same for relay and sweeper; give both the same routes. */
export type RelayOptions = {
  readonly client: DynamoDBClient
  readonly tableName: string
  readonly routes: readonly Route[]
  /** The Region whose rows are sent. Default: the client's. */
  readonly region?: string
  /**
   * Regions that are lost and whose rows are sent from here. While set, none of them may run a relay of its own: a group
   * would be sent from two places. Default: none.
   */
  readonly takeOverRegions?: readonly string[]
  /**
   * How long a relayed row is kept, as proof against a second enqueue. Seconds, 1 to 365 days; default 7 days. Never less
   * than a day: a group that is empty again on the same day would give out the same `auto` numbers, and so the same ids.
   */
  readonly keepRelayedSeconds?: number
  readonly clock?: Clock
  /** Default: JSON lines on the console. */
  readonly logger?: Logger
  /** Default: nothing is counted. */
  readonly telemetry?: Telemetry
}

const OPTIONS: readonly (keyof RelayOptions)[] = [
  'client',
  'tableName',
  'routes',
  'region',
  'takeOverRegions',
  'keepRelayedSeconds',
  'clock',
  'logger',
  'telemetry',
]

const KEEP = { min: 86_400, max: 31_536_000, default: KEEP_RELAYED_SECONDS, unit: 'seconds' }

export type RelayWiring = Omit<RelayDeps, 'regions'> & {
  /** The own Region. */
  readonly region: () => Promise<string>
  readonly takeOverRegions: readonly string[]
}

/** Checks the options at once; only the client's Region is asked for later, because it may have to be looked up. */
export function wireRelay(owner: string, options: RelayOptions): RelayWiring {
  checkOptions(owner, options, OPTIONS)
  const { client, tableName, routes, region, takeOverRegions = [], clock = systemClock } = options
  checkClient('client', client, 'DynamoDB')
  if (typeof tableName !== 'string' || tableName === '')
    throw invalidSetting('tableName', 'must be the name of the outbox table')
  if (region !== undefined && !isRegion(region)) throw invalidSetting('region', 'must be the name of a Region')
  if (!Array.isArray(takeOverRegions) || !takeOverRegions.every(isRegion))
    throw invalidSetting('takeOverRegions', 'must be an array of names of Regions')
  return {
    store: createDynamoRowStore({ client, tableName, clock }),
    routing: compileRoutes(routes),
    region: async () => region ?? (await client.config.region()),
    takeOverRegions,
    keepSeconds: inRange('keepRelayedSeconds', options.keepRelayedSeconds, KEEP),
    clock,
    ...unfailing(options),
  }
}

function isRegion(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** What a run needs, with the Regions known. */
export async function resolveDeps(wiring: RelayWiring): Promise<RelayDeps & { readonly region: string }> {
  const region = await wiring.region()
  return { ...wiring, region, regions: new Set([region, ...wiring.takeOverRegions]) }
}
