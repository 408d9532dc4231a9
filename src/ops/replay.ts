import { OutboxError } from '../errors.ts'
import { checkName } from '../event/grammar.ts'
import { sha256 } from '../event/identity.ts'
import { eachAtOnce } from '../pool.ts'
import { checkOptions, inRange, invalidSetting } from '../settings.ts'
import type { Watch } from './dead-letters.ts'
import { readTableSize, scanRows } from './dynamo-outbox-rows.ts'
import { beginReplay, endReplay, noteProgress, type ReplayRecord } from './dynamo-replay-record.ts'
import { type Replay, replayRow } from './dynamo-row-changes.ts'
import { historyEntry } from './history.ts'
import type { RowSummary } from './row-summary.ts'
import { estimateScan, type ScanConsent } from './scan.ts'
import { type CheckedSystem, checkSystem, type OutboxSystem } from './system.ts'

export type ReplayOptions = Watch &
  ScanConsent & {
    readonly source: string
    /** Default: every type. */
    readonly type?: string
    /** Events created from then on, ms since 1970. Default: all that are kept. */
    readonly from?: number
    /** Events created before then, ms since 1970. Default: until the replay began. */
    readonly to?: number
    /** Only these handlers run again: `consumer/handler` each. */
    readonly handlers: readonly string[]
    /** Who does it: recorded with each row. 1–64 printable ASCII characters. */
    readonly by: string
    /** Why: recorded too. 1–128 bytes. */
    readonly reason?: string
    /** Counts what would be replayed and changes nothing. It reads the table all the same. */
    readonly dryRun?: boolean
    /** Replays what was replayed with the same options before: without it, that is answered with `ended`. */
    readonly again?: boolean
    /** Events a second at most. 1–1000, default 100: beside them the table, the sweeper and the consumers do their daily work. */
    readonly perSecond?: number
  }

export type ReplaySummary = {
  /** The later life of the events, ms; absent in a dry run. */
  readonly life?: number
  /** Moved now; of a dry run, what would be. */
  readonly replayed: number
  /** An earlier run of this replay, which was not finished, had moved them. */
  readonly before: number
  /** Not relayed, or their data is forgotten: left as they are. */
  readonly left: number
  /** Whether all of the table was looked at. */
  readonly whole: boolean
  /** ms; the same replay had ended then, and nothing was done now. */
  readonly ended?: number
}

const ALLOWED: readonly (keyof ReplayOptions)[] = [
  'source',
  'type',
  'from',
  'to',
  'handlers',
  'by',
  'reason',
  'dryRun',
  'again',
  'perSecond',
  'onEstimate',
  'signal',
  'onProgress',
]
const PER_SECOND = { min: 1, max: 1000, default: 100, unit: 'events a second' }
const GROUPS_AT_ONCE = 8
const MAX_HANDLERS = 5

/**
 * Makes relayed rows pending again, for a new or rebuilt consumer: the next sweeps send them, to every destination of theirs,
 * those of a group in order, and there only the handlers named run, whatever the ledger has of an earlier life. A handler
 * named that no consumer has is passed over by all. Not through an event bus, which has no place for the names.
 *
 * Reads the whole table once, if `onEstimate` agrees. Safe to be killed anywhere and to be run twice at once: run again with
 * the same options it goes on where it was; once it has ended, it does nothing for 30 days unless told to (`again`). Throws `INVALID_SETTING`, `INVALID_USE` for a scan that nobody
 * agreed to, and errors of the AWS SDK as they are.
 */
export async function replay(system: OutboxSystem, options: ReplayOptions): Promise<ReplaySummary> {
  const checked = checkReplay(system, options)
  const { dryRun = false, onEstimate } = options
  if (onEstimate === undefined) throw new OutboxError('INVALID_USE', NEEDS_SCAN)
  if (!(await onEstimate(estimateScan(await readTableSize(checked))))) return { ...NOTHING, whole: false }
  if (dryRun) return walk(checked, options, undefined)
  const record = await beginReplay(checked, nameOf(options), options.again === true)
  const { life, ended } = record
  if (ended !== undefined) return { ...NOTHING, life, whole: true, ended }
  const summary = await walk(checked, options, record)
  if (summary.whole) await endReplay(checked, record)
  return { ...summary, life }
}

const NOTHING = { replayed: 0, before: 0, left: 0 }
const NEEDS_SCAN = 'A replay reads the whole table. Agree to that: `onEstimate` is told what it takes.'

/** Without a record: a dry run. */
async function walk(
  system: CheckedSystem,
  options: ReplayOptions,
  record: ReplayRecord | undefined,
): Promise<ReplaySummary> {
  const { life, after } = record ?? { life: system.clock.now() }
  const { handlers, signal, onProgress } = options
  const entry = historyEntry('replay', { by: options.by, reason: options.reason, at: system.clock.now() })
  const act: Replay = { note: { life, handlers }, entry }
  const count = { ...NOTHING }
  const pace = createPace(system, inRange('perSecond', options.perSecond, PER_SECOND))
  let seen = 0

  const move = async (row: RowSummary): Promise<void> => {
    if (row.note?.life === life) count.before += 1
    else if (row.state !== 'relayed' || row.forgotten !== undefined) count.left += 1
    else if (record === undefined) count.replayed += 1
    else {
      await pace()
      if ((await replayRow(system, row, act)) === 'written') count.replayed += 1
      else count.left += 1
    }
  }
  for await (const page of scanRows(system, { index: 0, total: 1, after })) {
    const groups = Map.groupBy(page.filter(isWanted(options, life)), ({ pk }) => pk)
    // The rows of a group are in order, and all of one page are done before the next: so they are sent in order too.
    await eachAtOnce(groups.values(), GROUPS_AT_ONCE, (rows) => eachInTurn(rows, move, signal))
    if (signal?.aborted) return { ...count, whole: false }
    seen += page.length
    onProgress?.(seen)
    const last = page.at(-1)
    // Another run of the same replay has looked at everything by now.
    if (record !== undefined && last !== undefined && !(await noteProgress(system, record, last))) break
  }
  return { ...count, whole: true }
}

async function eachInTurn(
  rows: readonly RowSummary[],
  act: (row: RowSummary) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const row of rows) if (!signal?.aborted) await act(row)
}

/** What was created since the replay began reaches the new consumer by itself. */
function isWanted({ source, type, from = 0, to }: ReplayOptions, life: number): (row: RowSummary) => boolean {
  return (row) => {
    const created = row.created ?? 0
    return (
      row.source === source && (type === undefined || row.type === type) && created >= from && created < (to ?? life)
    )
  }
}

/** Waits so that no more than so many go in a second. */
function createPace({ clock }: CheckedSystem, perSecond: number): () => Promise<void> {
  let next = clock.now()
  return async () => {
    const now = clock.now()
    const turn = Math.max(next, now)
    next = turn + 1000 / perSecond
    if (turn > now) await clock.sleep(turn - now)
  }
}

/** The same selection is the same replay, until it has ended. */
function nameOf({ source, type, from, to, handlers }: ReplayOptions): string {
  return sha256(JSON.stringify([source, type ?? '', from ?? 0, to ?? 0, handlers.toSorted()]))
}

function checkReplay(system: OutboxSystem, options: ReplayOptions): CheckedSystem {
  const checked = checkSystem('replay', system)
  checkOptions('replay', options, ALLOWED)
  const { source, type, from, to, handlers } = options
  checkName('source', source, 'source')
  if (type !== undefined) checkName('type', type)
  for (const [path, time] of Object.entries({ from, to })) {
    if (time !== undefined && !(Number.isSafeInteger(time) && time >= 0))
      throw invalidSetting(path, 'must be whole milliseconds since 1970')
  }
  const named = Array.isArray(handlers) && handlers.every((name) => typeof name === 'string' && HANDLER.test(name))
  if (!named || handlers.length === 0 || handlers.length > MAX_HANDLERS)
    throw invalidSetting('handlers', `must name 1–${MAX_HANDLERS} handlers, each as "consumer/handler"`)
  return checked
}

const HANDLER = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}\/[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
