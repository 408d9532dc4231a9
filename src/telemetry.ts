/** Namespace of all our metrics in CloudWatch. */
export const METRICS_NAMESPACE = 'DynamoDBOutbox'

/** `service` of relay and sweeper together, so that both add to one metric. A consumer's is its own name. */
export const OUTBOX_SERVICE = 'outbox'

/**
 * The dimensions of every metric, exactly these two: who counts, and its table's name (relay and sweeper: the outbox's;
 * a consumer: its ledger's). A source, group or key is never a dimension, so that the number of metrics, which cost
 * money each, does not grow with the data.
 */
export function metricDimensions(
  service: string,
  tableName: string,
): { readonly service: string; readonly Table: string } {
  return { service, Table: tableName }
}

/** The one list of metric names. */
export const METRICS = {
  // relay and sweeper
  relayed: { name: 'Relayed', unit: 'Count', help: 'Rows accepted by every destination and marked' },
  sent: { name: 'Sent', unit: 'Count', help: 'Entries a destination accepted' },
  refused: { name: 'Refused', unit: 'Count', help: 'Entries a destination refused for their content' },
  sendFailed: {
    name: 'SendFailed',
    unit: 'Count',
    help: 'Entries not accepted because of an outage, throttle or permission',
  },
  markFailed: { name: 'MarkFailed', unit: 'Count', help: 'Marks that did not land; the sweeper sends the row again' },
  deadRows: { name: 'RowsDeadLettered', unit: 'Count', help: 'Rows dead-lettered by this run' },
  malformedRows: {
    name: 'MalformedRows',
    unit: 'Count',
    help: 'Rows or records that cannot be understood, set aside alone',
  },
  foreignRows: {
    name: 'ForeignRows',
    unit: 'Count',
    help: 'Rows without an id of their own, sent under a derived one',
  },
  newerRows: {
    name: 'NewerRows',
    unit: 'Count',
    help: 'Rows of a newer format, left pending until this code is deployed anew',
  },
  unroutedRows: { name: 'UnroutedRows', unit: 'Count', help: 'Rows that no route takes, left pending' },
  leftToSweeper: { name: 'LeftToSweeper', unit: 'Count', help: 'Rows the stream path left pending' },
  swept: { name: 'Swept', unit: 'Count', help: 'Rows relayed by the sweeper' },
  oldestPendingMs: {
    name: 'OldestPendingMs',
    unit: 'Milliseconds',
    help: 'Age of the oldest pending row, by its creation',
  },
  pendingRows: { name: 'PendingRows', unit: 'Count', help: 'Rows pending (capped)' },
  deadRowsTotal: { name: 'DeadRows', unit: 'Count', help: 'Rows dead (capped), each 15 minutes' },
  // consumer
  handled: { name: 'Handled', unit: 'Count', help: 'Handler runs that completed' },
  duplicatesSuppressed: { name: 'DuplicatesSuppressed', unit: 'Count', help: 'Deliveries of a handler that was done' },
  deferred: { name: 'Deferred', unit: 'Count', help: 'Deliveries put off without spending an attempt' },
  failed: { name: 'HandlerFailed', unit: 'Count', help: 'Handler runs that threw: an attempt each' },
  crashed: { name: 'HandlerCrashed', unit: 'Count', help: 'Lapsed claims that ran alone: an attempt each' },
  takenOver: { name: 'TakenOver', unit: 'Count', help: 'Lapsed claims taken over' },
  claimLost: {
    name: 'ClaimLost',
    unit: 'Count',
    help: 'Completions or failures refused because the claim was taken over',
  },
  deadLettered: { name: 'DeadLettered', unit: 'Count', help: 'Handler deliveries copied to the dead-letter queue' },
  deadSuppressed: { name: 'DeadSuppressed', unit: 'Count', help: 'Deliveries of a handler that is dead' },
  thrownAfterCommit: {
    name: 'ThrownAfterCommit',
    unit: 'Count',
    help: 'Handlers that threw after their commit landed: done all the same',
  },
  unhandledType: { name: 'UnhandledType', unit: 'Count', help: 'Events of a type that no handler takes' },
  unknownHandler: {
    name: 'UnknownHandler',
    unit: 'Count',
    help: 'Messages naming a handler that is no longer registered',
  },
  ledgerUnavailable: {
    name: 'LedgerUnavailable',
    unit: 'Count',
    help: 'Deliveries put off because the ledger did not answer',
  },
} as const satisfies Record<
  string,
  { readonly name: string; readonly unit: 'Count' | 'Milliseconds'; readonly help: string }
>

export type MetricKey = keyof typeof METRICS

/** Metrics that say how things stand: given once in a run, 0 included. All others count, and are left out when 0. */
export const GAUGES: ReadonlySet<MetricKey> = new Set(['oldestPendingMs', 'pendingRows', 'deadRowsTotal'])

/** Where counts go. Counts add up within one invocation; gauges are given once. */
export type Telemetry = { readonly count: (metric: MetricKey, value?: number) => void }

/** Structured log lines; Powertools' logger fits as it is. Never handed data, a source, a key or a group. */
export type Logger = {
  readonly info: (message: string, fields: Record<string, unknown>) => void
  readonly warn: (message: string, fields: Record<string, unknown>) => void
  readonly error: (message: string, fields: Record<string, unknown>) => void
}

export const silentTelemetry: Telemetry = { count: () => {} }

/** One JSON line per message on the console: what CloudWatch Logs reads. */
export const consoleLogger: Logger = {
  info: (message, fields) => console.info(line('INFO', message, fields)),
  warn: (message, fields) => console.warn(line('WARN', message, fields)),
  error: (message, fields) => console.error(line('ERROR', message, fields)),
}

function line(level: string, message: string, fields: Record<string, unknown>): string {
  try {
    return JSON.stringify({ level, message, ...fields })
  } catch {
    return JSON.stringify({ level, message: String(message), fields: 'cannot be written as JSON' })
  }
}

/** A logger and counts that cannot fail: what goes wrong with a line must not become the fate of a batch. */
export function unfailing({
  logger = consoleLogger,
  telemetry = silentTelemetry,
}: {
  readonly logger?: Logger | undefined
  readonly telemetry?: Telemetry | undefined
}): { readonly logger: Logger; readonly telemetry: Telemetry } {
  return {
    logger: {
      info: (message, fields) => attempt(() => logger.info(message, fields)),
      warn: (message, fields) => attempt(() => logger.warn(message, fields)),
      error: (message, fields) => attempt(() => logger.error(message, fields)),
    },
    telemetry: { count: (metric, value) => attempt(() => telemetry.count(metric, value)) },
  }
}

/** One that is asynchronous, against its type, may fail later: that must not end the process. */
function attempt(act: () => unknown): void {
  try {
    const result = act()
    if (result instanceof Promise) result.catch(() => {})
  } catch {
    // Nobody is left to be told.
  }
}
