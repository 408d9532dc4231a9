import { errorName } from '../errors.ts'
import { findStart } from './find-tail.ts'
import { relayGroup } from './relay-group.ts'
import type { Run } from './run.ts'

/**
 * Relays a group from its lowest pending row upward. `sequences` are those of its rows that the index showed, in any
 * order: where pending rows lie apart (a redriven one below the tail), the settled ones between them are not read.
 * Every row is read twice at most. True if the table answered.
 */
export async function sweepGroup(run: Run, pk: string, sequences: readonly number[]): Promise<boolean> {
  const shown = [...sequences].sort((a, b) => a - b)
  try {
    let next = shown[0]
    while (next !== undefined && !run.over()) {
      const start = await findStart(run, pk, next)
      if (start === undefined) return true
      const { stopped, reached = next } = await relayGroup(run, pk, start)
      if (stopped) return true
      const done = Math.max(reached, next)
      next = shown.find((sequence) => sequence > done)
    }
    return true
  } catch (error) {
    run.logger.warn('group could not be read', { reason: errorName(error) })
    return false
  }
}
