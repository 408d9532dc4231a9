import { type Answer, decideRow } from './decide-row.ts'
import { outgoingMessage } from './outgoing-message.ts'
import type { PendingRow, RowReading } from './row-image.ts'
import type { Run } from './run.ts'
import { buryRow, noteAccepted } from './settle-row.ts'

/**
 * What came of a row: `settled` (relayed, dead, or not ours to send), `unsent` (a destination did not take it) or `left`
 * (nobody could be asked: no route, a newer format).
 */
export type RowEnd = 'settled' | 'unsent' | 'left'

/** Relays an unordered row as it was read. Never throws. */
export async function relayUnordered(run: Run, reading: RowReading, notAfter: number): Promise<RowEnd> {
  if (reading.kind === 'pending') return relayRow(run, reading.row, notAfter)
  countOddity(run, reading)
  if (reading.kind === 'newer') return 'left'
  if (reading.kind !== 'malformed') return 'settled'
  return (await buryRow(run, { ...reading, ...reading.key }, { cause: `malformed: ${reading.reason}` }))
    ? 'settled'
    : 'left'
}

/** Counts what is not sent as it is: the metrics by which an operator finds out. */
export function countOddity(run: Run, reading: RowReading): void {
  if (reading.kind === 'newer') run.telemetry.count('newerRows')
  if (reading.kind === 'malformed' || reading.kind === 'unreadable') run.telemetry.count('malformedRows')
}

async function relayRow(run: Run, row: PendingRow, notAfter: number): Promise<RowEnd> {
  const destinations = run.destinationsOf(row)
  if (row.derivedId) run.telemetry.count('foreignRows')
  if (destinations.length === 0) {
    run.telemetry.count('unroutedRows')
    return 'left'
  }
  const answers = await askDestinations(run, row, { destinations, notAfter })
  const decision = decideRow({ destinations, accepted: row.accepted, answers, inTurn: true })
  if (decision.kind === 'keep') {
    await noteAccepted(run, row, decision.accepted)
    return 'unsent'
  }
  if (decision.kind === 'dead') {
    const { reason: cause, accepted } = decision
    return (await buryRow(run, row, { cause, accepted })) ? 'settled' : 'left'
  }
  // Not awaited: the mark waits for 25 of its kind, or for the flush at the end.
  void run.marker.mark(row)
  return 'settled'
}

/** All at once; those that have it already are not asked. */
async function askDestinations(
  run: Run,
  row: PendingRow,
  { destinations, notAfter }: { readonly destinations: readonly string[]; readonly notAfter: number },
): Promise<ReadonlyMap<string, Answer>> {
  const message = outgoingMessage(row)
  const asked = destinations.filter((name) => !row.accepted.has(name))
  const outcomes = await Promise.all(asked.map((name) => run.senders.get(name)?.send(message, notAfter)))
  const answers = new Map<string, Answer>()
  for (const [index, outcome] of outcomes.entries()) {
    const name = asked[index]
    if (name !== undefined && outcome !== undefined) answers.set(name, outcome)
  }
  return answers
}
