import type { JournalLine } from './journal-line.ts'

/** A process that was killed. `inHand`: events of its invocation, if it was a relay's or a sweeper's. */
export type Kill = { readonly process: string; readonly at: number; readonly inHand: readonly string[] }

/**
 * From a kill to the moment at which another process began to handle what the killed one had in hand, ms: handlers that
 * it was running, and events that it was relaying and that no handler had seen.
 */
export function takeovers(kills: readonly Kill[], journal: readonly JournalLine[]): number[] {
  const killed = new Map(kills.map((kill) => [kill.process, kill]))
  const orphans = new Map<string, number>()
  const relayed = new Map<string, number>()
  for (const { at, inHand } of kills) for (const id of inHand) if (!relayed.has(id)) relayed.set(id, at)
  const times: number[] = []
  for (const line of journal) {
    if (line.kind !== 'start' && line.kind !== 'end') continue
    const name = `${line.handler} ${line.id}`
    const kill = killed.get(line.process)
    if (line.kind === 'end') {
      orphans.delete(name)
      continue
    }
    const since = orphans.get(name) ?? relayed.get(line.id)
    if (since !== undefined && line.at >= since) times.push(line.at - since)
    orphans.delete(name)
    relayed.delete(line.id)
    if (kill !== undefined) orphans.set(name, kill.at)
  }
  return times.sort((a, b) => a - b)
}

/** Of a sorted list; 0 of an empty one. */
export function percentile(sorted: readonly number[], share: number): number {
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0)
}
