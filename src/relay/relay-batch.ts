import { errorName } from '../errors.ts'
import { keyText, type RowKey } from '../outbox/row.ts'
import { createPool } from '../pool.ts'
import { findTail } from './find-tail.ts'
import type { StreamRecord, StreamResponse } from './lambda-event.ts'
import { relayGroup } from './relay-group.ts'
import { type RowEnd, relayUnordered } from './relay-unordered.ts'
import { keyOf, type RowReading, readRow } from './row-image.ts'
import { READ_AGE_MS, type Run } from './run.ts'
import { type Hint, readRecord, type Taken } from './stream-record.ts'

/** Groups on their way at once: ten full requests of ten. */
const CONCURRENT_GROUPS = 100
/** Old rows read back in one request: 10 MB at worst. */
const READ_BACK_ROWS = 25
/**
 * Rows of a group that are looked through beyond those of the batch: what a writer at full speed (65 `auto` numbers a
 * second) can add before its records arrive. With less, a burst is left to the sweeper, and waits out its grace.
 */
const TAIL_SLACK = 100

/** Of no row: an item that was read has a key. */
const NO_KEY: RowKey = { pk: '', sk: '' }

/** What came of a record's row; `unread`: the table did not answer. */
type HintEnd = { readonly hint: Taken; readonly end: RowEnd | 'unread' }

/**
 * Relays what a batch of stream records hints at. Nothing is reported for Lambda to try again, since the sweeper finds
 * every row that stays pending, except what could not be read, and everything unsent if no destination answered at all.
 * Then the mapping's retries bound it.
 */
export async function relayBatch(run: Run, records: readonly StreamRecord[]): Promise<StreamResponse> {
  const readAt = run.clock.now()
  const hints = records.map((record) => readRecord(record, { regions: run.regions, now: readAt }))
  const unreadable = hints.filter(({ kind }) => kind === 'unreadable').length
  if (unreadable > 0) {
    run.telemetry.count('malformedRows', unreadable)
    run.logger.error('stream records without a readable key', { records: unreadable })
  }
  const ends = await Promise.all([relayImages(run, hints, readAt), relayOld(run, hints), relayGroups(run, hints)])
  await run.marker.flush()
  return report(run, ends.flat())
}

async function relayImages(run: Run, hints: readonly Hint[], readAt: number): Promise<HintEnd[]> {
  const images = new Map(hints.flatMap((hint) => (hint.kind === 'image' ? [[keyText(hint.key), hint] as const] : [])))
  return Promise.all(
    [...images.values()].map(async (hint) => ({
      hint,
      end: await relayUnordered(run, hint.reading, readAt + READ_AGE_MS),
    })),
  )
}

/** Records older than the grace: a mapping that starts from the beginning brings a day of them, mostly relayed long ago. */
async function relayOld(run: Run, hints: readonly Hint[]): Promise<HintEnd[]> {
  const old = [
    ...new Map(
      hints.flatMap((hint) => (hint.kind === 'read-back' ? [[keyText(hint.key), hint] as const] : [])),
    ).values(),
  ]
  const pages: Taken[][] = []
  for (let at = 0; at < old.length; at += READ_BACK_ROWS) pages.push(old.slice(at, at + READ_BACK_ROWS))
  const pool = createPool(4)
  return (await Promise.all(pages.map((page) => pool.run(() => readBack(run, page))))).flat()
}

async function readBack(run: Run, page: readonly Taken[]): Promise<HintEnd[]> {
  if (run.over()) return page.map((hint) => ({ hint, end: 'left' }))
  const readAt = run.clock.now()
  try {
    const keys = page.map(({ key }) => key)
    const images = await run.ask((store, signal) => store.readRows(keys, signal))
    const readings = new Map(images.map((image) => [keyText(keyOf(image) ?? NO_KEY), readRow(image, run.regions)]))
    const relay = (reading: RowReading | undefined): Promise<RowEnd> | RowEnd =>
      reading === undefined ? 'left' : relayUnordered(run, reading, readAt + READ_AGE_MS)
    return await Promise.all(page.map(async (hint) => ({ hint, end: await relay(readings.get(keyText(hint.key))) })))
  } catch (error) {
    return unread(run, page, error)
  }
}

async function relayGroups(run: Run, hints: readonly Hint[]): Promise<HintEnd[]> {
  const groups = new Map<string, Taken[]>()
  for (const hint of hints) {
    if (hint.kind !== 'group') continue
    const group = groups.get(hint.key.pk)
    if (group === undefined) groups.set(hint.key.pk, [hint])
    else group.push(hint)
  }
  const pool = createPool(CONCURRENT_GROUPS)
  const lanes = [...groups].map(([pk, group]) => pool.run(() => relayTail(run, pk, group)))
  return (await Promise.all(lanes)).flat()
}

async function relayTail(run: Run, pk: string, group: readonly Taken[]): Promise<HintEnd[]> {
  try {
    const sequences = group.map(({ key }) => Number(key.sk))
    const batch = { lowest: Math.min(...sequences), highest: Math.max(...sequences) }
    const tail = await findTail(run, pk, { limit: group.length + TAIL_SLACK, batch })
    if (tail.kind === 'deep') return group.map((hint) => ({ hint, end: 'left' }))
    if (tail.kind === 'empty') return group.map((hint) => ({ hint, end: 'settled' }))
    const { settled, unsent } = await relayGroup(run, pk, tail)
    // A row above it that was not read is not known to be settled: its transaction may not have been through.
    const { below = -1 } = tail
    return group.map((hint) => {
      const sequence = Number(hint.key.sk)
      const isSettled = sequence <= below || settled.has(sequence)
      return { hint, end: isSettled ? 'settled' : unsent ? 'unsent' : 'left' }
    })
  } catch (error) {
    return unread(run, group, error)
  }
}

function unread(run: Run, hints: readonly Taken[], error: unknown): HintEnd[] {
  run.logger.warn('table could not be read', { records: hints.length, reason: errorName(error) })
  return hints.map((hint) => ({ hint, end: 'unread' }))
}

async function report(run: Run, ends: readonly HintEnd[]): Promise<StreamResponse> {
  const pending = ends.filter(({ hint, end }) => end !== 'settled' || isHidden(run, hint))
  const tried = [...run.senders.values()].filter((sender) => sender.tried())
  const nobodyAnswered = tried.length > 0 && !tried.some((sender) => sender.answered())
  const again = pending.filter(({ end }) => end === 'unread' || (end === 'unsent' && nobodyAnswered))
  const unlisted = await listRows(
    run,
    pending.filter((end) => !again.includes(end)),
  )
  const failures = [...again, ...unlisted]
  if (pending.length > failures.length) run.telemetry.count('leftToSweeper', pending.length - failures.length)
  return { batchItemFailures: failures.map(({ hint }) => ({ itemIdentifier: hint.number })) }
}

/** Sent, but not marked, and in no index: no sweep would ever mark it. */
function isHidden(run: Run, { key, unlisted }: Taken): boolean {
  return unlisted !== undefined && run.marker.failed(key)
}

/** A foreign row without `due` is in no index: left as it is, nobody would ever find it again. Gives those that failed. */
async function listRows(run: Run, ends: readonly HintEnd[]): Promise<HintEnd[]> {
  const failed = await Promise.all(
    ends.map(async (end) => {
      const { key, unlisted } = end.hint
      if (unlisted === undefined) return []
      try {
        await run.ask((store, signal) => store.list({ ...key, ...unlisted }, run.clock.now(), signal))
        return []
      } catch {
        return [end]
      }
    }),
  )
  return failed.flat()
}
