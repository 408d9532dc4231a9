import { checkOptions } from '../settings.ts'
import type { ActOptions } from './act-on-dead-letters.ts'
import { type HistoryEntry, historyEntry, type OperatorAction } from './history.ts'
import { checkSelection } from './selection.ts'
import { type CheckedSystem, checkSystem, type OutboxSystem } from './system.ts'

const ALLOWED = ['select', 'by', 'reason', 'dryRun', 'onOutcome', 'signal', 'onProgress']

/** Refuses, as `INVALID_SETTING`, whatever is wrong before anything is done; gives what is recorded of the act. */
export function checkAct(
  action: OperatorAction,
  system: OutboxSystem,
  options: ActOptions,
): { readonly checked: CheckedSystem; readonly entry: HistoryEntry } {
  const checked = checkSystem(action, system)
  checkOptions(action, options, ALLOWED)
  checkSelection(`${action}.select`, options.select)
  const { by, reason } = options
  return { checked, entry: historyEntry(action, { by, reason, at: checked.clock.now() }) }
}
