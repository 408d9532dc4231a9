import { DEFAULT_BACKOFF, DEFAULT_MAX_ATTEMPTS } from './backoff.ts'
import { OutboxError } from './errors.ts'

/** An allowed range of whole numbers, both ends included. */
export type Range = { readonly min: number; readonly max: number; readonly default: number; readonly unit: string }

/** Every limit a person can set, in one place (seconds unless the name says otherwise). */
export const RANGES = {
  leaseSeconds: { min: 1, max: 3600, default: 60, unit: 'seconds' },
  maxAttempts: { min: 1, max: 100, default: DEFAULT_MAX_ATTEMPTS, unit: 'attempts' },
  maxClaims: { min: 1, max: 100, default: 20, unit: 'claims' },
  backoffFirstSeconds: { min: 0, max: 86_400, default: DEFAULT_BACKOFF.firstSeconds, unit: 'seconds' },
  backoffCapSeconds: { min: 0, max: 86_400, default: DEFAULT_BACKOFF.capSeconds, unit: 'seconds' },
} as const satisfies Record<string, Range>

/** Longest stored failure reason, in UTF-8 bytes. */
export const MAX_REASON_BYTES = 512

/** The given whole number if it lies in the range, the default if it is undefined; else an `INVALID_SETTING` error. */
export function inRange(name: string, value: number | undefined, range: Range): number {
  if (value === undefined) return range.default
  if (Number.isInteger(value) && value >= range.min && value <= range.max) return value
  throw invalidSetting(name, `must be a whole number of ${range.unit} from ${range.min} to ${range.max}`)
}

/** Refuses what is no object, and an option that is not in `allowed`, naming it and what is allowed. */
export function checkOptions(owner: string, given: object, allowed: readonly string[]): void {
  if (typeof given !== 'object' || given === null)
    throw invalidSetting(owner, `must be given an object of options; allowed are ${allowed.join(', ')}`)
  for (const name of Object.keys(given)) {
    if (allowed.includes(name)) continue
    throw invalidSetting(`${owner}: ${JSON.stringify(name)}`, `is not an option; allowed are ${allowed.join(', ')}`)
  }
}

/**
 * Refuses what is no client of the AWS SDK v3, or the client of another service. Which of DynamoDB's two clients it is,
 * is said by the caller and never asked here.
 */
export function checkClient(path: string, client: unknown, service: 'DynamoDB' | 'SQS' | 'EventBridge'): void {
  const { send, config } = (client ?? {}) as { send?: unknown; config?: { serviceId?: unknown } }
  if (typeof send === 'function' && (config?.serviceId ?? service) === service) return
  throw invalidSetting(path, `must be a client of ${service} from the AWS SDK for JavaScript v3`)
}

/** The records of a Lambda event. Refuses (`INVALID_USE`) what is none: a test event, another source. */
export function checkRecords<Record>(source: 'SQS' | 'DynamoDB', records: readonly Record[]): readonly Record[] {
  if (Array.isArray(records)) return records
  const message = `This function takes events of ${source} with Records, and got something else. Look at what invokes it.`
  throw new OutboxError('INVALID_USE', message)
}

export function invalidSetting(path: string, rule: string): OutboxError {
  return new OutboxError('INVALID_SETTING', `${path} ${rule}.`, { details: { path } })
}

/**
 * A failure reason fit to be stored: control characters become spaces, cut to 512 UTF-8 bytes at a character's end,
 * never empty.
 */
export function failureReason(text: string): string {
  const clean = text
    .toWellFormed()
    .replace(/\p{Cc}/gu, ' ')
    .trim()
  let bytes = 0
  let end = 0
  for (const character of clean) {
    bytes += Buffer.byteLength(character)
    if (bytes > MAX_REASON_BYTES) break
    end += character.length
  }
  return clean.slice(0, end) || 'no reason given'
}

/** Environment variables of the functions: the one contract between whoever deploys them and their code. */
export const VARIABLES = {
  /** Name of the outbox table. */
  outboxTable: 'OUTBOX_TABLE',
  /** JSON list of {@link RouteSetting}. */
  routes: 'OUTBOX_ROUTES',
  /** JSON list of Regions that are lost and whose rows are sent from here. Optional. */
  takeOverRegions: 'OUTBOX_TAKE_OVER_REGIONS',
  /** How long a relayed row is kept, in seconds. Optional. */
  keepRelayedSeconds: 'OUTBOX_KEEP_RELAYED_SECONDS',
  /** Name of the ledger table. */
  ledgerTable: 'LEDGER_TABLE',
  /** How long a ledger row is kept, in days. Optional. */
  ledgerKeepDays: 'LEDGER_KEEP_DAYS',
  /** URL of the consumer's queue. */
  queueUrl: 'QUEUE_URL',
  /** URL of its dead-letter queue. */
  deadLetterQueueUrl: 'DEAD_LETTER_QUEUE_URL',
} as const

/** A destination as plain data. `name` is recorded in the rows' `accepted`: never change it. */
export type Target =
  | { readonly kind: 'sqs'; readonly name: string; readonly url: string }
  /** `bus`: name or ARN. */
  | { readonly kind: 'event-bus'; readonly name: string; readonly bus: string }

export type RouteSetting = {
  readonly source?: string | readonly string[]
  readonly type?: string | readonly string[]
  readonly to: readonly Target[]
}

export type RelaySettings = {
  readonly tableName: string
  readonly routes: readonly RouteSetting[]
  readonly takeOverRegions?: readonly string[]
  readonly keepRelayedSeconds?: number
}

export type ConsumerSettings = {
  readonly ledgerTable: string
  readonly queueUrl: string
  readonly deadLetterQueueUrl: string
  readonly ledgerKeepDays?: number
  /** Only of a consumer that emits events. */
  readonly outboxTable?: string
}

export type Environment = Readonly<Record<string, string | undefined>>

/** What relay and sweeper need. Throws `INVALID_SETTING`, naming the variable; its text is never in the message. */
export function readRelaySettings(env: Environment): RelaySettings {
  const takeOverRegions = readJson(env, VARIABLES.takeOverRegions)
  return {
    tableName: required(env, VARIABLES.outboxTable),
    routes: checkRoutes(readJson(env, VARIABLES.routes)),
    ...(takeOverRegions === undefined ? {} : { takeOverRegions: textList(VARIABLES.takeOverRegions, takeOverRegions) }),
    ...optionalNumber(env, 'keepRelayedSeconds'),
  }
}

/** What a consumer needs. Throws `INVALID_SETTING`, naming the variable. */
export function readConsumerSettings(env: Environment): ConsumerSettings {
  const outboxTable = env[VARIABLES.outboxTable]
  return {
    ledgerTable: required(env, VARIABLES.ledgerTable),
    queueUrl: required(env, VARIABLES.queueUrl),
    deadLetterQueueUrl: required(env, VARIABLES.deadLetterQueueUrl),
    ...optionalNumber(env, 'ledgerKeepDays'),
    ...(outboxTable ? { outboxTable } : {}),
  }
}

/** The inverse of {@link readRelaySettings}, for whoever deploys. */
export function relayEnvironment(settings: RelaySettings): Record<string, string> {
  const { tableName, routes, takeOverRegions = [], keepRelayedSeconds } = settings
  return {
    [VARIABLES.outboxTable]: tableName,
    [VARIABLES.routes]: JSON.stringify(routes),
    ...(takeOverRegions.length === 0 ? {} : { [VARIABLES.takeOverRegions]: JSON.stringify(takeOverRegions) }),
    ...(keepRelayedSeconds === undefined ? {} : { [VARIABLES.keepRelayedSeconds]: String(keepRelayedSeconds) }),
  }
}

/** The inverse of {@link readConsumerSettings}, for whoever deploys. */
export function consumerEnvironment(settings: ConsumerSettings): Record<string, string> {
  const { ledgerTable, queueUrl, deadLetterQueueUrl, ledgerKeepDays, outboxTable } = settings
  return {
    [VARIABLES.ledgerTable]: ledgerTable,
    [VARIABLES.queueUrl]: queueUrl,
    [VARIABLES.deadLetterQueueUrl]: deadLetterQueueUrl,
    ...(ledgerKeepDays === undefined ? {} : { [VARIABLES.ledgerKeepDays]: String(ledgerKeepDays) }),
    ...(outboxTable === undefined ? {} : { [VARIABLES.outboxTable]: outboxTable }),
  }
}

/** The text of a variable that must be there. */
export function required(env: Environment, variable: string): string {
  const text = env[variable]
  if (!text) throw invalidSetting(variable, 'is not set in the environment of this function')
  return text
}

function readJson(env: Environment, variable: string): unknown {
  const text = env[variable]
  if (!text) return undefined
  try {
    return JSON.parse(text)
  } catch {
    throw invalidSetting(variable, `must be JSON text; got ${text.length} characters that are not`)
  }
}

function optionalNumber<Key extends 'keepRelayedSeconds' | 'ledgerKeepDays'>(
  env: Environment,
  key: Key,
): { readonly [K in Key]?: number } {
  const text = env[VARIABLES[key]]
  if (!text) return {}
  if (!/^\d{1,15}$/.test(text)) throw invalidSetting(VARIABLES[key], 'must be a whole number in decimal digits')
  return { [key]: Number(text) } as { readonly [K in Key]?: number }
}

const TARGET_FIELDS = { sqs: ['kind', 'name', 'url'], 'event-bus': ['kind', 'name', 'bus'] } as const

function checkRoutes(routes: unknown): readonly RouteSetting[] {
  const path = VARIABLES.routes
  if (!Array.isArray(routes) || routes.length === 0)
    throw invalidSetting(path, 'must be a JSON list of routes, at least one')
  for (const [index, route] of routes.entries()) checkRoute(`${path}[${index}]`, route)
  return routes
}

function checkRoute(path: string, route: unknown): void {
  const { source, type, to } = fieldsOf(path, route)
  checkOptions(path, route as object, ['source', 'type', 'to'])
  if (source !== undefined) textList(`${path}.source`, [source].flat())
  if (type !== undefined) textList(`${path}.type`, [type].flat())
  if (!Array.isArray(to) || to.length === 0)
    throw invalidSetting(`${path}.to`, 'must be a list of targets, at least one')
  for (const [index, target] of to.entries()) checkTarget(`${path}.to[${index}]`, target)
}

function checkTarget(path: string, target: unknown): void {
  const { kind, ...texts } = fieldsOf(path, target)
  if (kind !== 'sqs' && kind !== 'event-bus') throw invalidSetting(`${path}.kind`, 'must be "sqs" or "event-bus"')
  checkOptions(path, target as object, TARGET_FIELDS[kind])
  for (const field of TARGET_FIELDS[kind].slice(1)) textList(`${path}.${field}`, [texts[field]])
}

function fieldsOf(path: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw invalidSetting(path, 'must be a JSON object')
}

function textList(path: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.length > 0 && value.every((text) => typeof text === 'string' && text !== ''))
    return value
  throw invalidSetting(path, 'must be text, or a list of texts, none empty')
}
