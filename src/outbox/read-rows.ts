import type { Identity } from '../event/identity.ts'
import { type Attempt, type Call, type Entry, sentEntries } from './attempt.ts'
import { groupOf } from './draft-events.ts'
import { judgeRow, type Standing } from './judge-row.ts'
import { autoGroups, nextSequence, numberEvents } from './number-events.ts'
import type { CommitDeps } from './open-call.ts'
import { groupKey } from './row.ts'
import type { Session } from './session.ts'

/** What stands at the keys of an attempt's rows, in order, consistently read. Rejects if one cannot be read. */
export function readStandings(session: Session, call: Call, attempt: Attempt): Promise<Standing[]> {
  return Promise.all(
    sentEntries(attempt).map(async (entry) => {
      const { pk, sk } = entry.row
      return judgeEntry(call, entry, await session.readRow(call.tableName, { pk, sk }))
    }),
  )
}

export function judgeEntry(
  { stamp }: Call,
  { draft }: Entry,
  stored: Readonly<Record<string, unknown>> | undefined,
): Standing {
  return judgeRow(stored, { instance: stamp.instance, type: draft.event.type, dataText: draft.dataText })
}

/**
 * Who each event of a call is. The `auto` ones get the numbers that follow on the highest row stored now: a
 * guess, which the row's own condition confirms or refuses. Rejects if a group cannot be read.
 */
export async function identifyEvents({ session, clock }: CommitDeps, { events, tableName }: Call): Promise<Identity[]> {
  const next = await Promise.all(
    autoGroups(events.drafts).map(async (draft): Promise<[string, number]> => {
      const { source, group = '' } = draft.event
      const highest = await session.highestRow(tableName, groupKey({ source, group }))
      return [groupOf(draft), nextSequence(highest, clock.now())]
    }),
  )
  return numberEvents(events.drafts, new Map(next))
}
