import { decodeLifeNote, type LifeNote } from '../event/life.ts'
import { identityOf, isOrderedKey, type RowKey, type RowState, rowState } from '../outbox/row.ts'
import { identify, keyOf, numberOf, type RowImage } from '../relay/row-image.ts'
import { type HistoryEntry, readHistory } from './history.ts'

/** A row of the outbox as an operator reads it: all but its data. */
export type RowSummary = RowKey & {
  /** The event's id; of a foreign row, the one it is sent under. */
  readonly id: string
  readonly state: RowState
  readonly source?: string
  /** The caller's key; of an ordered event its group, a space, its sequence. */
  readonly key?: string
  readonly group?: string
  readonly type?: string
  /** ms */
  readonly created?: number
  /** ms; while pending or dead. */
  readonly due?: number
  readonly shard?: string
  readonly region?: string
  /** How often it was redriven or replayed. */
  readonly redrives: number
  /** Claims of pull workers; only on a row that they have had, whose way it keeps. */
  readonly claims?: number
  /** Destinations that took it while others did not. */
  readonly accepted: readonly string[]
  /** Of its last replay, or as a dead row of pull workers: which round, for which handlers. */
  readonly note?: LifeNote
  /** Why it is, or was, dead. */
  readonly failure?: string
  /** Epoch seconds; on relayed rows. */
  readonly expires?: number
  /** ms; its data was removed for good then. */
  readonly forgotten?: number
  readonly history: readonly HistoryEntry[]
}

/** The attributes a summary is made of. Every name is aliased: some are reserved words. */
export const SUMMARY_ATTRIBUTES = [
  'pk',
  'sk',
  'v',
  'id',
  'type',
  'created',
  'due',
  'shard',
  'region',
  'redrives',
  'claims',
  'note',
  'accepted',
  'failure',
  'expires',
  'forgotten',
  'history',
] as const

/** Reads a row given as DynamoDB gives it. Undefined for a row whose key is no text, and for the sweeper's heartbeat. */
export function summarizeRow(image: RowImage, history: unknown): RowSummary | undefined {
  const key = keyOf(image)
  if (key === undefined || key.pk.startsWith('H#')) return undefined
  const { accepted, shard } = image
  return {
    ...key,
    id: identify(image, key).id,
    ...namesOf(key),
    state: rowState(shard?.S),
    ...texts(image),
    ...numbers(image),
    ...noteOf(image),
    redrives: numberOf(image['redrives']) ?? 0,
    accepted: accepted?.SS ?? [],
    history: readHistory(history),
  }
}

function namesOf(key: RowKey): Pick<RowSummary, 'source' | 'key' | 'group'> {
  const identity = identityOf(key)
  if (identity === undefined) return {}
  const names = { source: identity.source, key: key.pk.slice(identity.source.length + 3) }
  return 'group' in identity && isOrderedKey(key)
    ? { ...names, key: `${identity.group} ${identity.sequence}`, group: identity.group }
    : names
}

function noteOf(image: RowImage): Pick<RowSummary, 'note'> {
  const note = decodeLifeNote(image['note']?.S ?? '')
  return note === undefined ? {} : { note }
}

function texts(image: RowImage): Partial<Record<'type' | 'shard' | 'region' | 'failure', string>> {
  const names = ['type', 'shard', 'region', 'failure'] as const
  return Object.fromEntries(names.flatMap((name) => (image[name]?.S === undefined ? [] : [[name, image[name].S]])))
}

function numbers(image: RowImage): Partial<Record<'created' | 'due' | 'expires' | 'forgotten' | 'claims', number>> {
  const names = ['created', 'due', 'expires', 'forgotten', 'claims'] as const
  const found = names.map((name) => [name, numberOf(image[name])] as const)
  return Object.fromEntries(found.filter(([, value]) => value !== undefined))
}
